import assert from 'node:assert/strict'
import { test } from 'node:test'
import { liveRoutes, liveTopics, portalRoutes, type ReadRouteName, routesAbout } from './index.ts'

test('every route that reads has its topics, and every topic changes some answer', () => {
  const reading = Object.entries(portalRoutes).filter(([, { method }]) => method === 'GET')
  assert.deepEqual(Object.keys(liveRoutes).sort(), reading.map(([name]) => name).sort())
  for (const topic of liveTopics) assert.notDeepEqual(routesAbout(topic), [], topic)
  for (const name of Object.keys(liveRoutes) as ReadRouteName[]) {
    const { topics, ages } = liveRoutes[name]
    assert.equal(new Set(topics).size, topics.length, name)
    // What is read once is a file, an example, the answer to a search or a fact of the installation.
    const isRead = /^(export|previewDataset$|findAnything$|getEnvironment$|getReferenceToken$)/.test(name)
    assert.equal(topics.length === 0 && ages !== true, isRead, name)
  }
})

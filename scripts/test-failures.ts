// A reporter of node:test for the runner of this folder: the file of each failed test, one a line.
import type { TestEvent } from 'node:test/reporters'

export default async function* failedFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type === 'test:fail' && event.data.nesting === 0) yield `${event.data.file}\n`
  }
}

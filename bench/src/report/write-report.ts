import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { performancePage } from './performance-page.ts'
import { barPlot, barsOf, growthPlot, type Plot } from './plots.ts'
import { type Results, repository } from './results.ts'

const images = 'docs/images/performance'

/** Writes docs/performance.md and its plots from the results alone. */
export function writeReport(results: Results): void {
  const plots = plotsOf(results)
  const folder = join(repository, images)
  mkdirSync(folder, { recursive: true })
  for (const file of readdirSync(folder)) if (file.endsWith('.svg')) rmSync(join(folder, file))
  for (const { name, svg } of plots) writeFileSync(join(folder, `${name}.svg`), svg)
  writeFileSync(join(repository, 'docs/performance.md'), performancePage(results, plots))
}

function plotsOf({ works }: Results): Plot[] {
  const rowsOf = (name: keyof typeof works) => works[name]?.rows ?? []
  const bars = (work: keyof typeof works, name: string, file: string, unit = 'requests per second, 8 connections') => {
    const own = barsOf(rowsOf(work), name, 8)
    return own.length === 0 ? [] : [barPlot(file, `${name[0]?.toUpperCase()}${name.slice(1)}`, unit, own)]
  }
  const ingest = rowsOf('ingest').filter(({ connections }) => connections === 1)
  return [
    ...bars('page', 'page of 5,000, gzip', 'page-gzip'),
    ...bars('page', 'page of 5,000', 'page'),
    ...bars('page-100', 'page of 100', 'page-100'),
    ...bars('delta', 'empty delta', 'empty-delta'),
    ...bars('delta', 'delta of 10', 'delta-of-10'),
    ...(ingest.length === 0
      ? []
      : [
          barPlot(
            'ingest',
            'Ingest by one uploader',
            'records per second',
            ingest.map(({ who, name, perSecond }) => ({
              label: who.includes('other') ? `${name.split(',')[0]}, before` : `Bridgework, ${name.split(',')[0]}`,
              value: perSecond,
            })),
          ),
        ]),
    ...(works.growth
      ? [growthPlot('growth', 'Processor time of a request (ms) by records of the location', works.growth.rows)]
      : []),
  ]
}

import { type CsvFault, type CsvRow, charactersMax, linesOf, tooLong } from './csv.ts'

/** Where a column stands in each line: its first and its last character, from 1. */
export type Positions = readonly [first: number, last: number]

/** The rows of text whose columns have fixed places. A line that ends before a column begins has no field for it. */
export async function* readFixedWidth(
  text: AsyncIterable<string>,
  columns: readonly Positions[],
): AsyncGenerator<CsvRow | CsvFault> {
  for await (const lines of linesOf(text)) {
    for (const { number, text: line } of lines) {
      if (line.length > charactersMax) yield { line: number, rule: tooLong }
      else {
        const there = columns.filter(([first]) => first <= line.length)
        yield { line: number, text: line, fields: there.map(([first, last]) => line.slice(first - 1, last)) }
      }
    }
  }
}

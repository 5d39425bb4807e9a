import type { Body, TestVendor, VendorRecord } from '../../../testing/test-world.ts'

/** What came of an export: whole records, and the last line where it came. */
export type ReadExport = {
  records: VendorRecord[]
  meta: (Pick<Body['meta'], 'has_more' | 'next_after' | 'next_fetch_modified_since'> & { records: number }) | null
  watermark: string | null
}

/** Reads an export to its end. */
export async function readExport(vendor: TestVendor, path: string): Promise<ReadExport> {
  const { headers, text } = await vendor.get(path)
  return { ...parseExport(text), watermark: headers.get('x-next-fetch-modified-since') }
}

/** The whole lines of an export, or of what there is of it. */
export function parseExport(text: string): Pick<ReadExport, 'records' | 'meta'> {
  const lines = text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
  const last = lines.at(-1)?.meta
  return { records: last ? lines.slice(0, -1) : lines, meta: last ?? null }
}

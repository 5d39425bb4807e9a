/** What is wrong with a file, without any of its values. `column` and `line` where they are known. */
export type FileFault = {
  readonly file: string
  readonly line: number | null
  readonly column: string | null
  readonly rule: string
  /** Of the record that cannot be made, where it is known. Never printed. */
  readonly key?: string
}

/** Why a file cannot be read on. */
export class UnreadableFile extends Error {
  readonly fault: FileFault

  constructor(fault: FileFault) {
    super(faultText(fault))
    this.fault = fault
  }
}

export function faultText({ file, line, column, rule }: FileFault): string {
  const position = [file, line === null ? null : `line ${line}`, column === null ? null : `column "${column}"`]
  return `${position.filter((part) => part !== null).join(', ')}: ${rule}.`
}

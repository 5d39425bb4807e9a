/** The licence texts of the packages in these folders, one after the other. */
export function licenceTexts(folders: readonly string[]): string

// What packages ask to travel with their code. Plain JavaScript: the agent's build runs it before anything is compiled.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The licence texts of the packages in these folders, one after the other. */
export function licenceTexts(folders) {
  return folders
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      const file = existsSync(folder) && readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
      const text = file ? readFileSync(join(folder, file), 'utf8').trim() : 'No licence file; see the package.'
      return `${name} ${version} (${license})\n${'-'.repeat(60)}\n${text}\n`
    })
    .join('\n\n')
}

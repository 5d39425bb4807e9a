import { playModel, verifyChain } from './model/run.ts'
import { withService } from './model/service.ts'
import type { ModelRunOptions } from './row.ts'

/** Of each seed so many minutes, with services of their own. What is found ends the row; its seed is said again. */
export async function modelOfService({ minutes, seeds, seed }: ModelRunOptions): Promise<string> {
  const done: string[] = []
  for (let index = 0; index < seeds; index += 1) {
    const own = index === 0 ? seed : `${seed}-${index + 1}`
    const say = (text: string) => console.log(`     ${new Date().toISOString()} seed ${own}, ${text}`)
    const options = {
      seed: own,
      minutes,
      roundSeconds: 20,
      strikeEveryMs: 5_000,
      organizations: 4,
      companies: 5,
      hasLarge: true,
      say,
    }
    const played = await withService(async (service) => {
      const what = await playModel(service, options)
      return `${what}, ${await verifyChain(service)}`
    }).catch((error: unknown) => {
      const repeat = `npm run soak -- F40 --minutes ${minutes} --seed ${own}`
      throw new Error(`seed ${own}: ${error instanceof Error ? error.message : error}\nThe same steps again: ${repeat}`)
    })
    done.push(`seed ${own}: ${played}`)
  }
  return done.join('\n     ')
}

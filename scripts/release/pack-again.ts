// Makes a file of npm pack the same for everyone: node scripts/release/pack-again.ts FILE
import { packAgain } from './archive.ts'

await packAgain(process.argv[2] ?? '')

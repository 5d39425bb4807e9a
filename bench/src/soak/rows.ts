import { migrateMillion, pullMillion, verifyMillion } from './a-million.ts'
import { accountForPatients } from './account-for-patients.ts'
import { auditFindsLoss } from './audit-finds-loss.ts'
import { generateClients } from './generators.ts'
import { hostileBodies } from './hostile-bodies.ts'
import { attackSlowly, examineTls } from './instruments.ts'
import { discloseUnderKills } from './kills/disclose-under-kills.ts'
import { killEverything } from './kills/kill-everything.ts'
import { killBackend, killPostgres } from './kills/kill-postgres.ts'
import { killServer } from './kills/kill-server.ts'
import { sendWebhooks } from './many-webhooks.ts'
import { mirrorInPython, mirrorPractices } from './mirror-practices.ts'
import { modelOfService } from './model-of-service.ts'
import { otherRuntimes } from './other-runtimes.ts'
import { survivePooler, survivePrimary } from './outages.ts'
import { longWalk, randomWalk } from './random-walk.ts'
import { recoverLongLog } from './recover-long-log.ts'
import { releaseSlots } from './release-slots.ts'
import { restoreAnytime } from './restores/restore-anytime.ts'
import { restoreFromArchive } from './restores/restore-from-archive.ts'
import type { Row } from './row.ts'
import { tamperWithChain } from './tamper-with-chain.ts'

/** What `npm run soak` can try; another row is another file and its line here. */
export const rows: readonly Row[] = [
  { id: 'F01', title: 'the server is killed again and again during an ingest', run: (options) => killServer(options) },
  { id: 'F02', title: 'Postgres is killed again and again during an ingest', run: killPostgres },
  { id: 'F03', title: 'one Postgres backend is killed again and again during an ingest', run: killBackend },
  { id: 'F05', title: 'with synchronous_commit off, the same audit finds a loss', run: auditFindsLoss },
  { id: 'C08', title: 'the slots of a killed server free themselves', run: releaseSlots },
  { id: 'ALL', title: 'agent, server and Postgres are killed in turn while a practice is read', run: killEverything },
  { id: 'F21', title: 'entries and seals are changed, removed, added and exchanged at random', run: tamperWithChain },
  {
    id: 'F25',
    title: 'what clients received of three processes that are killed is held against what is on record',
    run: discloseUnderKills,
  },
  {
    id: 'F28',
    title: 'server and Postgres are killed with a long log to replay',
    run: (options) => recoverLongLog(options),
  },
  { id: 'F24', title: 'millions of disclosures are searched for one patient', run: accountForPatients },
  { id: 'F31', title: 'a destroyed database is restored from its archive by pgBackRest', run: restoreFromArchive },
  {
    id: 'F32',
    title: 'the service is restored at any moment from any backup, and every copy follows',
    run: restoreAnytime,
  },
  { id: 'G08', title: 'the worst bodies of every ingest route keep no other caller waiting', run: hostileBodies },
  { id: 'G20', title: 'office, agents and service are edited, restored and killed at random', run: randomWalk },
  { id: 'G21', title: 'one office goes through 500 such steps', run: longWalk },
  { id: 'H08', title: '10,000 webhooks go to endpoints that fail, hang, redirect and trickle', run: sendWebhooks },
  {
    id: 'F40',
    title: 'a model of the whole service is held against two processes that are killed',
    run: modelOfService,
  },
  { id: 'F41', title: 'the database behind PgBouncer restarts under mixed requests', run: survivePooler },
  { id: 'F42', title: 'a standby takes over from a primary that dies under mixed requests', run: survivePrimary },
  { id: 'SLOW', title: 'slowhttptest sends, reads and asks for ranges slowly', run: attackSlowly },
  { id: 'TLS', title: 'testssl.sh examines the server', run: examineTls },
  { id: 'M01', title: 'mirrors of practices that live are killed behind a network that fails', run: mirrorPractices },
  { id: 'M02', title: 'a million treatments are pulled', run: pullMillion },
  { id: 'M03', title: 'a copy of a million treatments is verified', run: verifyMillion },
  { id: 'MIG', title: 'a million records are migrated while they are read and written', run: migrateMillion },
  { id: 'M04', title: 'the client’s package runs on Node 20.3, Bun and Deno', run: otherRuntimes },
  { id: 'M06', title: 'Python mirrors of practices that live are killed', run: mirrorInPython },
  { id: 'M05', title: 'eight generators’ clients read the service, and a proxy validates it', run: generateClients },
]

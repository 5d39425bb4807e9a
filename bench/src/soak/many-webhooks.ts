import { runTests } from './run-tests.ts'

/** Webhooks to endpoints of every bad kind, over five days that pass in minutes; and a hundred hostile addresses. */
export async function sendWebhooks(): Promise<string> {
  const messages = 10_000
  await runTests('apps/server/src/modules/webhooks/many-webhooks.test.ts', {
    BRIDGEWORK_TEST_WEBHOOKS: String(messages),
  })
  return `${messages} webhooks`
}

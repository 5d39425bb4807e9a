/** How many times the small count of `npm test` a test that repeats itself is to run: the soak's way to the full count. */
export const times = Number(process.env.BRIDGEWORK_TEST_RUNS ?? 1)

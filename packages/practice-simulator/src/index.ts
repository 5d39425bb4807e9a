/** Synthetic practices that live: in memory, as the records that agents send, or written into an Open Dental database. */
export { createPractice, demoShape, openDentalShape, type PracticeShape, vendorShape } from './create-practice.ts'
export { keyOrder } from './indexes.ts'
export { type LivingPractice, livingPractice } from './living-practice.ts'
export { expectedLocations, expectedRecords } from './open-dental/expected.ts'
export { expectedManyPlans, type ManyPlansOptions, manyPlans, writeManyPlans } from './open-dental/many-plans.ts'
export type { OpenDentalVariant } from './open-dental/variant.ts'
export { createOpenDentalTables, writeEvent, writePractice, writePreference } from './open-dental/writer.ts'
export { applyChange, type KeyStyle, type Practice, todayIn } from './practice.ts'
export type { PracticeEvent, PracticeEventName } from './practice-events.ts'
export { openPracticeFile, type PracticeFile } from './practice-file.ts'
export { createRandom, type Random } from './random.ts'
export {
  type Carrier,
  type Employer,
  type Fee,
  type FeeSchedule,
  type InsurancePlan,
  type Location,
  type RowChange,
  rowChange,
} from './rows.ts'
export { sourceLocation } from './source-location.ts'
export { recordKeys, simulatedDatasets, sourceRecords, type Truth, truthOf } from './source-records.ts'
export { generateVolume, type VolumeBatch, type VolumeShape, volumeLocations, volumeSize } from './volume/volume.ts'
export { wallTimeAt } from './wall-time.ts'

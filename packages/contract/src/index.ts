export { aboutError } from './about-error.ts'
export { anyInstant, commonAttributes, instant, nullable, sourceId } from './attribute.ts'
export {
  type ChangeKind,
  change,
  changeKinds,
  changesMeta,
  removalHeld,
  webhookMessage,
} from './changes.ts'
export type { Dataset, FilterName, Lookup, ReferenceRule, SourceRecord } from './dataset.ts'
export {
  type DatasetName,
  datasetNames,
  datasets,
  datasetsWithNotes,
  findDataset,
  getDataset,
  isDatasetName,
  type SourceAttributes,
  vendorAttribute,
} from './datasets.ts'
export { locationAttributes, organizationAttributes } from './directory.ts'
export {
  cursorMeta,
  cursorPagy,
  digestMeta,
  digestRange,
  directoryMeta,
  exportMeta,
  type FreshnessState,
  freshness,
  pageMeta,
  pagePagy,
  recordMeta,
} from './envelope.ts'
export { limits, vendorApiPath, vendorApiVersion } from './limits.ts'
export { type BrokenRule, type ParameterRule, parameterRules } from './parameter-rule.ts'
export { type ErrorBody, type PeopleProblemCode, type ProblemCode, problems, vendorProblems } from './problems.ts'
export { hasInstants, hasPatientData, referencesFrom, referencesTo } from './references.ts'
export { completeSource, contractNumber, numbersOf, renderingOf, sinceOf, sourceAt } from './shape.ts'
export { isTimeZone } from './time-zone.ts'

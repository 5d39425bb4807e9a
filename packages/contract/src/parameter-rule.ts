/**
 * The rules that a parameter of the vendor API can break, each as a sentence. The request log keeps which parameter broke which rule, and never
 * its value, which can name a patient.
 */
export const parameterRules = {
  accepted: 'The path accepts the parameter.',
  once: 'A parameter occurs once.',
  encoding: 'Names and values are percent-encoded UTF-8.',
  whole_number: 'The value is a whole number within the bounds of the parameter.',
  record_id: 'The value is the id of a record: a positive whole number.',
  date_time: 'The value is an RFC 3339 date-time with Z or an offset. In a query, + is written as %2B.',
  not_future: 'The time is not later than that of the server.',
  order: 'The end is later than the start.',
  cursor: 'The value is the cursor of the answer before, unchanged.',
  boolean: 'The value is empty, true, 1, false or 0.',
  names: 'The value is a list of accepted names, each once, separated by commas.',
} as const satisfies Record<string, string>

export type ParameterRule = keyof typeof parameterRules

/** Which parameter broke which rule, without its value. `parameter`: null where the path knows none of the name. */
export type BrokenRule = { readonly parameter: string | null; readonly rule: ParameterRule }

/** Numbers of the vendor API that callers rely on. Sources: spec, Limits; the rest are ours and stated in the docs. */
export const limits = {
  /** spec: Pagination rules 4. A larger `items` is capped to this, not rejected. */
  pageSizeMax: 5000,
  /** Page size when `items` is omitted. */
  pageSizeDefault: 100,
  /** spec: Limits, token lifetime. */
  tokenLifetimeSeconds: 6 * 60 * 60,
  /** spec: Limits, token requests per minute per IP address. */
  tokenRequestsPerMinute: 10,
  /** A token request's body, in bytes. */
  tokenBodyBytesMax: 16 * 1024,
  /** Characters of a `client_id` or `client_secret`. */
  credentialLengthMax: 256,
  /** Records of a digest's range, but for the last one, which may have fewer. */
  digestRangeRecords: 1000,
  /** Ranges in one answer of a digest. */
  digestRangesMax: 50,
  /** How far a delta reaches back before its moment, so that a client's clock may be ahead of ours. */
  deltaOverlapMs: 5 * 60 * 1000,
  /** How far /changes reaches back before its cursor: docs/decisions/changes.md says why that is enough. */
  changesOverlapMs: 15 * 1000,
  /** How long a request of /changes may wait for one. */
  changesWaitSecondsMax: 25,
  /** Waiting requests of a company, in one process. */
  changesWaitingMax: 2,
  /** Lines of one upload. */
  uploadLinesMax: 10_000,
  /** Bytes of one upload, unpacked. */
  uploadBytesMax: 16 * 1024 * 1024,
  /** Bytes of one line of an upload: a fee schedule of 50,000 fees has some 4 MiB. */
  uploadLineBytesMax: 8 * 1024 * 1024,
  /** Members of one line of an upload: a fee has five. */
  uploadLineMembersMax: 300_000,
  /** Objects and lists within each other in one line of an upload. */
  uploadLineDepthMax: 6,
  /** Bytes of a list of locations. */
  locationsBytesMax: 4 * 1024 * 1024,
  /** Bytes of a heartbeat: it names each of a thousand locations for each dataset. */
  heartbeatBytesMax: 1024 * 1024,
  /** Keys in one slice of a complete list. */
  sliceKeysMax: 10_000,
  /** Bytes of the signed file of an agent's release: its bundle has 2.4 MB. */
  agentReleaseBytesMax: 16 * 1024 * 1024,
  /** Bytes of each part of that file, but for the last one, which may have fewer. */
  agentReleasePartBytes: 256 * 1024,
  /** Characters of a practice management system's own key. */
  sourceIdLengthMax: 255,
} as const

/** The path under which every vendor operation lies; `{base_url}` of the specification ends with it. */
export const vendorApiPath = '/api/v1/vendors'

/** spec: Versioning. */
export const vendorApiVersion = '1.0.0'

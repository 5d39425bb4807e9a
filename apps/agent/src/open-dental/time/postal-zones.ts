/**
 * The IANA zone in which every address with this ZIP code's first three digits (in Canada: this letter) lies, or null: not a postal code,
 * or one whose area has two clocks. Then a person must say.
 */
export function zoneOfPostalCode(postalCode: string | null): string | null {
  const code = (postalCode ?? '').trim().toUpperCase()
  if (/^[A-Z]\d[A-Z] ?\d[A-Z]\d$/.test(code)) return canadianZones[code.slice(0, 1)] ?? null
  return /^\d{5}(-?\d{4})?$/.test(code) ? (zoneOfPrefix.get(Number(code.slice(0, 3))) ?? null) : null
}

/**
 * First three digits of ZIP codes, by zone. By the states of the USPS's prefixes (Publication 65) and the time zone boundaries of 49 CFR part
 * 71, as of 2026. Left out, so that a person is asked: prefixes on both sides of a boundary (324 and 368 at the Alabama line, 373 and 377
 * in Tennessee, 401, 426 and 427 in Kentucky, 465, 469, 475 and 479 in Indiana, 498 and 499 in Michigan, 575, 576, 585 to 588, 677, 678,
 * 690 to 692, 798, 835, 898, 979), the Navajo Nation's (860, 865), the Aleutians' (995), Alaska's south end (999), 969 and the military's.
 */
const prefixes: Readonly<Record<string, string>> = {
  'America/Puerto_Rico': '006-009',
  'America/New_York':
    '005 010-089 100-212 214-268 270-323 326-339 341-342 344 346-347 349 374 376 378-379 398-399 430-459',
  'America/Kentucky/Louisville': '400 402-418 425',
  'America/Detroit': '480-497',
  'America/Indiana/Indianapolis': '460-462 466-468 470-474 478',
  'America/Chicago':
    '325 350-352 354-367 369-372 375 380-397 420-424 463-464 476-477 500-516 520-528 530-532 534-535 537-551 553-567 570-574 580-584 ' +
    '600-620 622-631 633-641 644-658 660-662 664-676 679-681 683-689 700-701 703-708 710-714 716-731 733-741 743-770 772-797',
  'America/Denver': '577 590-599 693 799-816 820-831 840-847 870-871 873-875 877-885',
  'America/Boise': '832-834 836-837',
  'America/Phoenix': '850-853 855-857 859 863-864',
  'America/Los_Angeles': '838 889-891 893-895 897 900-908 910-928 930-961 970-978 980-986 988-994',
  'America/Anchorage': '996-997',
  'America/Juneau': '998',
  'Pacific/Honolulu': '967-968',
}
const zoneOfPrefix: ReadonlyMap<number, string> = new Map(
  Object.entries(prefixes).flatMap(([zone, ranges]) =>
    ranges.split(' ').flatMap((range) => {
      const [first = 0, last = first] = range.split('-').map(Number)
      return Array.from({ length: last - first + 1 }, (_, index): [number, string] => [first + index, zone])
    }),
  ),
)

/** First letters of Canadian postal codes whose province, or part of it, has one clock. */
const canadianZones: Readonly<Record<string, string>> = {
  B: 'America/Halifax',
  C: 'America/Halifax',
  E: 'America/Moncton',
  H: 'America/Toronto',
  J: 'America/Toronto',
  K: 'America/Toronto',
  L: 'America/Toronto',
  M: 'America/Toronto',
  N: 'America/Toronto',
  R: 'America/Winnipeg',
  T: 'America/Edmonton',
  Y: 'America/Whitehorse',
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTimeZone } from '@bridgework/contract'
import { noZones } from '../../connector.ts'
import { type Place, type ZoneSources, zoneOfLocation } from './location-zone.ts'
import { zoneOfPostalCode } from './postal-zones.ts'
import { zoneOfWindowsName } from './windows-zones.ts'

const nowhere: Place = { sourceId: '1', clinicZone: null, postalCode: null, country: 'US' }
const nothing: ZoneSources = { configured: null, set: noZones, serverZone: 'CST' }

function zone(place: Partial<Place>, sources: Partial<ZoneSources>): string | null {
  return zoneOfLocation({ ...nowhere, ...place }, { ...nothing, ...sources }).zone
}

test('the sources of a time zone are asked in their order', () => {
  const set = { organization: 'America/Denver', locations: new Map([['1', 'America/Boise']]) }
  const place = { clinicZone: 'America/Phoenix', postalCode: '60601' }
  const serverZone = 'America/Chicago'
  assert.equal(zone(place, { configured: 'America/Juneau', set, serverZone }), 'America/Juneau')
  assert.equal(zone(place, { set, serverZone }), 'America/Boise')
  assert.equal(zone({ ...place, sourceId: '2' }, { set, serverZone }), 'America/Denver')
  assert.equal(zone(place, { serverZone }), 'America/Phoenix')
  assert.equal(zone({ postalCode: '60601' }, { serverZone }), 'America/Chicago')
  assert.equal(zone({ postalCode: '60601' }, {}), 'America/Chicago')

  const from = (more: Partial<Place>, sources: Partial<ZoneSources>) => {
    const found = zoneOfLocation({ ...nowhere, ...more }, { ...nothing, ...sources })
    return 'from' in found ? found.from : null
  }
  assert.equal(from(place, { configured: 'America/Juneau', set, serverZone }), 'the agent’s setting time_zone')
  assert.equal(from(place, { set, serverZone }), 'the location’s time zone at Bridgework')
  assert.equal(from({ ...place, sourceId: '2' }, { set, serverZone }), 'the organization’s time zone at Bridgework')
  assert.equal(from(place, { serverZone }), 'the clinic’s time zone in Open Dental')
  assert.equal(from({ postalCode: '60601' }, { serverZone }), 'the database server’s zone, America/Chicago')
  assert.equal(from({ postalCode: '60601' }, {}), 'the postal code 60601')
})

test('an offset, an abbreviation and a server on UTC tell no zone', () => {
  for (const serverZone of [
    'CST',
    'EST',
    'EST5EDT',
    '-06:00',
    '+00:00',
    'SYSTEM',
    'UTC',
    'GMT',
    'Etc/UTC',
    'Etc/GMT+6',
    '',
    'Mars/Base',
  ]) {
    assert.equal(zone({}, { serverZone }), null, serverZone)
    assert.equal(zone({ clinicZone: serverZone }, {}), null, serverZone)
  }
  const unknown = zoneOfLocation({ ...nowhere, postalCode: '47501' }, nothing)
  assert.match(
    'because' in unknown ? unknown.because : '',
    /only "CST", and the postal code 47501 does not tell the zone either\.$/,
  )
  const nothingAtAll = zoneOfLocation(nowhere, nothing)
  assert.match('because' in nothingAtAll ? nothingAtAll.because : '', /only "CST", and there is no postal code\.$/)
})

test('where the database server and the address disagree, a person is asked', () => {
  const away = zoneOfLocation({ ...nowhere, postalCode: '37013' }, { ...nothing, serverZone: 'America/Los_Angeles' })
  assert.match(
    'because' in away ? away.because : '',
    /^The database server is set to America\/Los_Angeles, but the postal code 37013 is in America\/Chicago/,
  )
  // One clock by two names.
  assert.equal(zone({ postalCode: '48201' }, { serverZone: 'America/New_York' }), 'America/New_York')
})

test('Windows’ names are known in winter and in summer, and in Canada as Canadian zones', () => {
  assert.equal(zoneOfWindowsName('Central Standard Time', 'US'), 'America/Chicago')
  assert.equal(zoneOfWindowsName('Central Daylight Time', 'US'), 'America/Chicago')
  assert.equal(zoneOfWindowsName('Central Standard Time', 'CA'), 'America/Winnipeg')
  assert.equal(zoneOfWindowsName('US Mountain Standard Time', 'US'), 'America/Phoenix')
  assert.equal(zoneOfWindowsName('UTC', 'US'), null)
  assert.equal(zoneOfWindowsName('constructor', 'US'), null)
  assert.equal(zone({ clinicZone: 'Eastern Standard Time', postalCode: '60601' }, {}), 'America/New_York')
})

test('a postal code tells its zone where every address under its prefix has the same clock', () => {
  const zones = {
    'America/New_York': ['00501', '10001', '33101-1234', '45202', '37402', '30301'],
    'America/Chicago': ['37013', '60601', '46402', '47708', '42001', '42301', '73301', '67202'],
    'America/Indiana/Indianapolis': ['46204', '47802'],
    'America/Kentucky/Louisville': ['40202'],
    'America/Detroit': ['48226'],
    'America/Denver': ['80202', '79901', '88510', '57701'],
    'America/Boise': ['83702'],
    'America/Phoenix': ['85001', '86301'],
    'America/Los_Angeles': ['90012', '97201', '98101', '89101', '83814'],
    'America/Juneau': ['99801'],
    'Pacific/Honolulu': ['96813'],
    'America/Puerto_Rico': ['00901'],
    'America/Toronto': ['M5V 2T6', 'h2x1y4'],
    'America/Edmonton': ['T2P 1J9'],
  }
  for (const [name, codes] of Object.entries(zones)) {
    assert.ok(isTimeZone(name))
    for (const code of codes) assert.equal(zoneOfPostalCode(code), name, code)
  }
  const ambiguous = [
    '32401',
    '37311',
    '42701',
    '46534',
    '47501',
    '49801',
    '57501',
    '67735',
    '69101',
    '79830',
    '83501',
    '86001',
    '97914',
    '99501',
    '96910',
  ]
  for (const code of [...ambiguous, '09001', 'V1G 4E6', 'S9V 0A1', '', '1234', '123456', 'SW1A 1AA', '00000']) {
    assert.equal(zoneOfPostalCode(code), null, code)
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestDatabase } from '../../platform/database/testing/test-database.ts'
import { insertCompany, renameCompany } from './company.ts'
import { ensureNameKeys, nameKey, requireName } from './name.ts'

const existing = ['Demo Vendor', 'Dental Link Inc.', 'COCO', 'Ærø Smile']

/** Each letter of `Demo Vendor` as other characters that look like it. */
const twins: Record<string, string> = {
  D: 'ꓓⅮ𝐃ＤᎠ',
  e: 'еｅ℮ҽ𝐞ꬲéèëēẹ',
  m: 'ｍⅿ𝐦мḿ',
  o: 'оοօｏⲟ𝐨०௦0øöōőơ',
  V: 'ѴⅤＶꓦ𝐕Ꮩ٧Ṽ',
  n: 'ոｎпռ𝐧ñńň',
  d: 'ԁⅾｄ𝐝Ꮷďḍ',
  r: 'гｒꭇꮁ𝐫řŕ',
}

function* hostileNames(): Generator<string> {
  const [name] = ['Demo Vendor']
  for (const [index, letter] of [...name].entries()) {
    for (const twin of twins[letter] ?? '') yield `${name.slice(0, index)}${twin}${name.slice(index + 1)}`
  }
  const unseen =
    '\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f\u202a\u202d\u202e\u2066\u2069\u115f\u3164\u2800\u034f\ufe0f\u061c'
  for (const sign of unseen) {
    yield `Demo${sign} Vendor`
    yield `${sign}Demo Vendor`
    yield `Demo Vendor${sign}`
  }
  yield* [
    'demo vendor',
    'DEMO VENDOR',
    'DemoVendor',
    'Demo  Vendor',
    ' Demo Vendor ',
    'Demo-Vendor',
    'Demo.Vendor',
    'Demo Vendor.',
  ]
  yield* [
    'Demo, Vendor',
    'Demo/Vendor',
    'Demo & Vendor',
    "Demo' Vendor",
    '(Demo Vendor)',
    'Demo–Vendor',
    'Demo:Vendor',
    'D.e.m.o Vendor',
  ]
  yield* [
    'Demo\u00a0Vendor',
    'Demo\u2003Vendor',
    'Demo\u2009Vendor',
    'Demo\u3000Vendor',
    'Demo\tVendor',
    'Demo\nVendor',
    'Demo_Vendor',
  ]
  yield* [
    'Inc',
    'Inc.',
    'LLC',
    'Ltd.',
    'Limited',
    'Corp',
    'Corp.',
    'Co.',
    'Company',
    'GmbH',
    'L.L.C.',
    'Co., Ltd.',
    'INC',
    'llc',
  ].map((form) => `Demo Vendor ${form}`)
  yield* [
    'The Demo Vendor',
    'THE DEMO VENDOR, INC.',
    'Derno Vendor',
    'DEM0 VENDOR',
    'Demo Vend0r',
    'D\u0435m\u043e Vend\u043er',
  ]
  yield* ['™', '®', '©', '✓', '✔', '✅', '☑', '★', '💎', '|', '=', '*', '~', '^', '<', '"', '$'].map(
    (sign) => `Demo Vendor ${sign}`,
  )
  yield* [
    'Demo Vendor (official)',
    'Official Demo Vendor',
    'Demo Vendor verified',
    'Verified: Demo Vendor',
    'Bridgework Demo Vendor',
  ]
  yield* [
    'Demo Vendor by Bridgework',
    'BRIDGEWORK',
    'Offici\u0430l Demo Vendor',
    'Bridgew0rk Support',
    'VERIFIED DEMO VENDOR',
  ]
  yield* [
    'D\u0301\u0301\u0301emo Vendor',
    'Demo Vendor\u0336',
    'De\u0323\u0323mo Vendor',
    '\u202erodneV omeD',
    '\u0301Demo Vendor',
  ]
  yield* [
    'DentaI Link',
    'Dental Llnk',
    'Denta1 Link',
    'Dental L1nk',
    'DENTAL LINK',
    'Dental-Link LLC',
    'Dental Link',
    'Denta\u04cf Link',
    'Dental Iink',
  ]
  yield* ['СОСО', 'СOCO', 'CОCО', 'coco', 'C0C0', 'Ⅽoⅽo', 'ＣＯＣＯ', 'COCO, Inc.', 'Coco Ltd', 'ᏟOᏟO']
  yield* ['Aerø Smile', 'ÆRØ SMILE', 'Ǽrø Smile', 'Ӕrø Smile', 'Ærö Smile', 'Æro Smile']
}

const others = [
  ...[
    'Demo Vendors',
    'Demo Analytics',
    'Vendor Demo',
    'Demo Vendor West',
    'Dental Links',
    'Dental Ink',
    'Coca',
    'Smile & Co',
  ],
  ...[
    'Zahnärzte Köln GmbH',
    'Ñandú Clínica',
    'Стоматология',
    '株式会社スマイル Dental',
    '김 Dental',
    'Dr. O’Brien',
    '3M',
    'A+ Dental (USA)',
  ],
]

test('of over 200 names that imitate another company’s, none is taken, and names that differ are', async (t) => {
  const { pool } = await createTestDatabase(t)
  for (const name of existing) await insertCompany(pool, name)
  const taken: string[] = []
  const hostile = [...hostileNames()]
  assert.ok(hostile.length >= 200, `${hostile.length} names`)
  for (const name of hostile) {
    const refused = await insertCompany(pool, name).then(
      () => null,
      (error: { code?: string }) => error.code ?? String(error),
    )
    if (refused !== 'name_taken' && refused !== 'field_invalid') taken.push(`${name}: ${refused}`)
  }
  assert.deepEqual(taken, [])
  for (const name of others) await insertCompany(pool, name)
})

test('a name is stored in one spelling; a company may change how its own is written, and not take another’s', async (t) => {
  const { pool } = await createTestDatabase(t)
  const one = await insertCompany(pool, '  Ｄｅｍｏ   Vendor ')
  assert.equal(one.name, 'Demo Vendor')
  assert.equal((await renameCompany(pool, one.id, 'DEMO Vendor, Inc.')).name, 'DEMO Vendor, Inc.')
  const two = await insertCompany(pool, 'Other')
  await assert.rejects(renameCompany(pool, two.id, 'Demo-Vendor'), { code: 'name_taken' })
  await renameCompany(pool, one.id, 'Another name')
  await assert.rejects(renameCompany(pool, two.id, 'Demo-Vendor'), { code: 'name_taken' }, 'nor one of this year')
  await pool.query(`update company_former_name set used_until = used_until - interval '1 year'`)
  await renameCompany(pool, two.id, 'Demo-Vendor')
  for (const [name, rule] of [
    ['', /must not be empty/],
    ['Dr\u200b Smile', /invisible characters/],
    ['Smile ™', /these signs/],
    ['=Smile', /these signs/],
    ['+Smile', /begin with a letter or a digit/],
    ['123', /must have a letter/],
    ['Smіle', /letters of several scripts/],
    ['D\u0336r Smile', /loose accents/],
  ] as const)
    assert.throws(() => requireName(name, 'the name of an organization'), { code: 'field_invalid', errors: rule }, name)
})

test('of two that ask for one name at once, one gets it', async (t) => {
  const { pool } = await createTestDatabase(t)
  const attempts = await Promise.allSettled(
    ['Smile', 'SMILE', 'Smile Inc', 'Smi1e'].map(async (name) => {
      const client = await pool.connect()
      try {
        await client.query('begin')
        await insertCompany(client, name)
        await client.query('commit')
      } catch (error) {
        await client.query('rollback')
        throw error
      } finally {
        client.release()
      }
    }),
  )
  assert.equal(attempts.filter(({ status }) => status === 'fulfilled').length, 1)
})

test('companies get another key at the start when keys are made in another way, also where two have one name', async (t) => {
  const { pool } = await createTestDatabase(t)
  await pool.query(
    `insert into company (id, name, name_key) values (gen_random_uuid(), 'Old One', 'x'), (gen_random_uuid(), 'old one', 'y')`,
  )
  await ensureNameKeys(pool)
  await ensureNameKeys(pool)
  const { rows } = await pool.query('select distinct name_key from company')
  assert.deepEqual(rows, [{ name_key: nameKey('Old One') }])
  await assert.rejects(insertCompany(pool, 'Old-One'), { code: 'name_taken' })
})

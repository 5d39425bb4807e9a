import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible, somePortalInBrowser } from './testing/test-browser.ts'

test('a person chooses Spanish before a sign-in, and the pages stay in it, with what the server says, after a reload too', async (t) => {
  const portal = await somePortalInBrowser(t)
  const page = await portal.newPage()
  await page.goto('/sign-in')
  await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor()
  await page.getByRole('button', { name: 'Español' }).click()
  await page.getByRole('heading', { name: 'Iniciar sesión', level: 1 }).waitFor()
  assert.equal(await page.evaluate('document.documentElement.lang'), 'es')
  assert.equal(await page.title(), 'Iniciar sesión · Bridgework')

  await page.getByLabel('Correo electrónico').fill('nobody@example.com')
  await page.getByLabel(/^Contraseña/).fill('wrong password here')
  await page.getByRole('button', { name: 'Iniciar sesión', exact: true }).click()
  await page.getByText('El correo electrónico o la contraseña no son correctos.').waitFor()
  await assertAccessible(page)

  await page.setViewportSize({ width: 390, height: 844 })
  for (const [path, heading] of [
    ['/sign-up', 'Registrarse'],
    ['/forgot-password', '¿Olvidó su contraseña?'],
    ['/reset-password', 'Este enlace está incompleto'],
    ['/verify-email', 'Este enlace no es válido'],
    ['/email-change', 'Este enlace está incompleto'],
    ['/invitation', 'Esta invitación no es válida'],
    ['/status', 'Estado del servicio'],
  ] as const) {
    await page.goto(path)
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
    await assertAccessible(page)
    const overflow = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
    assert.ok(overflow <= 0, `${path} is ${overflow} px too wide for a phone`)
  }
  await page.getByRole('button', { name: 'English' }).click()
  await page.getByRole('heading', { name: 'Status', level: 1 }).waitFor()
})

test('a browser that asks for Spanish gets it, and a page that is not yet in Spanish is whole in English', async (t) => {
  const portal = await somePortalInBrowser(t)
  const page = await portal.newPage({ locale: 'es-MX' })
  await page.goto('/sign-up')
  await page.getByRole('heading', { name: 'Registrarse', level: 1 }).waitFor()
  await page.goto('/docs')
  await page.getByRole('heading', { level: 1 }).waitFor()
  assert.equal(await page.evaluate('document.documentElement.lang'), 'en')
})

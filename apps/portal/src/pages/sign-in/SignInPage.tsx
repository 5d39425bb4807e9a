import { Alert, Button, PasswordInput, Stack, TextInput, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { callSignIn } from '../../api/call.ts'
import { beginSession } from '../../api/session.ts'
import { safeNext } from './next.ts'

const route = getRouteApi('/signed-out/sign-in')

/** Signing in with a password. */
export function SignInPage() {
  const navigate = useNavigate()
  const { next } = route.useSearch()
  const form = useForm({ mode: 'uncontrolled', initialValues: { email: '', password: '' } })
  const signIn = useMutation({
    mutationFn: (values: { email: string; password: string }) => callSignIn('signIn', values),
    onSuccess: async () => {
      await beginSession()
      await navigate({ href: safeNext(next) })
    },
  })
  return (
    <form onSubmit={form.onSubmit((values) => signIn.mutate(values))}>
      <Stack>
        <Title order={1} size="h2">
          Sign in
        </Title>
        {signIn.error && (
          <Alert color="red" role="alert">
            {signIn.error.message}
          </Alert>
        )}
        <TextInput
          label="E-mail address"
          type="email"
          autoComplete="username webauthn"
          required
          key={form.key('email')}
          {...form.getInputProps('email')}
        />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          required
          key={form.key('password')}
          {...form.getInputProps('password')}
        />
        <Button type="submit" loading={signIn.isPending}>
          Sign in
        </Button>
      </Stack>
    </form>
  )
}

import { Alert, Button, NativeSelect, Radio, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import { t } from '../../language/t.ts'
import { ErrorNote } from '../../ui/ErrorNote.tsx'
import { locale } from '../../ui/format/locale.ts'
import { PageLink } from '../../ui/links.tsx'
import { CheckYourMail } from './CheckYourMail.tsx'
import { NewPasswordInput } from './NewPasswordInput.tsx'
import { passwordAdvice } from './password.ts'
import { SignedOutPage } from './SignedOutPage.tsx'

/** Signing up a software company or a practice, with its owner. */
export function SignUpPage() {
  const form = useForm({
    initialValues: {
      side: 'company' as 'company' | 'organization',
      tenant_name: '',
      name: '',
      email: '',
      password: '',
      // Most often the owner sits in the practice.
      time_zone: new Intl.DateTimeFormat(locale).resolvedOptions().timeZone,
    },
    validate: {
      tenant_name: (value) => (value.trim() === '' ? t('Enter the name of the company or practice.') : null),
      name: (value) => (value.trim() === '' ? t('Enter your name.') : null),
      email: (value) =>
        /^\S+@\S+$/.test(value.trim()) ? null : t('Enter your e-mail address, for example ana@example.com.'),
      password: (value) => (passwordAdvice(value) === null ? null : t('Use 15 characters or more.')),
    },
  })
  const signUp = useMutation({
    mutationFn: (body: typeof form.values) => call('signUp', { body }),
    gcTime: 0,
  })
  const { side, email, password } = form.values
  if (signUp.isSuccess) {
    return (
      <CheckYourMail email={email}>
        {t('We sent a link to <b>{email}</b>. Open it within a day to confirm your address. Then you can sign in.', {
          b: (text) => <b>{text}</b>,
          email,
        })}
      </CheckYourMail>
    )
  }
  return (
    <SignedOutPage
      title={t('Sign up')}
      description={t('You become the owner and can invite others. Already have an account? <link>Sign in</link>', {
        link: (text) => (
          <PageLink to="/sign-in" underline="always" inherit>
            {text}
          </PageLink>
        ),
      })}
    >
      <form onSubmit={form.onSubmit((values) => signUp.mutate(values))} noValidate>
        <Stack>
          <Radio.Group label={t('What are you registering?')} {...form.getInputProps('side')}>
            <Stack gap="xs" mt="xs">
              <Radio
                value="company"
                label={t('A software company')}
                description={t('Reads data that practices grant access to.')}
              />
              <Radio
                value="organization"
                label={t('A practice')}
                description={t('Decides which vendors may read its data.')}
              />
            </Stack>
          </Radio.Group>
          <TextInput
            label={side === 'company' ? t('Name of the company') : t('Name of the practice')}
            autoComplete="organization"
            maxLength={200}
            {...form.getInputProps('tenant_name')}
          />
          {side === 'organization' && (
            // The browser's own list: the other needs 36 kB more for a page that people see once. Its zone may be another name of one in it.
            <NativeSelect
              label={t('Time zone of the practice')}
              data={[...new Set([form.values.time_zone, ...Intl.supportedValuesOf('timeZone')])]}
              {...form.getInputProps('time_zone')}
            />
          )}
          <TextInput label={t('Your name')} autoComplete="name" maxLength={200} {...form.getInputProps('name')} />
          <TextInput
            label={t('Your e-mail address')}
            type="email"
            autoComplete="username"
            maxLength={254}
            {...form.getInputProps('email')}
          />
          <NewPasswordInput
            label={t('Password')}
            typed={password}
            facts={[form.values.name, email, form.values.tenant_name]}
            {...form.getInputProps('password')}
          />
          <ErrorNote error={signUp.error} />
          <Button type="submit" loading={signUp.isPending}>
            {t('Sign up')}
          </Button>
          {side === 'organization' && (
            <Alert variant="light">
              <Text size="sm" c="bright">
                {t(
                  'No data leaves your practice management system before you install the agent. No vendor reads data before you grant access.',
                )}
              </Text>
            </Alert>
          )}
        </Stack>
      </form>
    </SignedOutPage>
  )
}

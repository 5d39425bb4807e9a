import { Button, Group, Text } from '@mantine/core'
import { chosenLanguage, keepLanguage, type Language, languages } from './language.ts'
import { t } from './t.ts'

/** Changes the language on a page before a sign-in. Each language is named in itself, for who reads no other. */
export function LanguageSwitch() {
  const chosen = chosenLanguage()
  const others = (Object.keys(languages) as Language[]).filter((language) => language !== chosen)
  return (
    <Group justify="center" gap="xs">
      {others.map((language) => (
        <Button
          key={language}
          variant="subtle"
          size="compact-sm"
          lang={language}
          onClick={() => {
            keepLanguage(language)
            location.reload()
          }}
        >
          {languages[language]}
        </Button>
      ))}
      {chosen === 'es' && (
        <Text size="xs" c="dimmed">
          {t('Pages for vendors and operators are in English.')}
        </Text>
      )}
    </Group>
  )
}

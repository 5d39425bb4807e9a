import { TextInput, type TextInputProps } from '@mantine/core'
import { t } from '../language/t.ts'

/** Why an operator does something, for the history. `required`: support must say it. */
export function ReasonInput(props: TextInputProps) {
  return (
    <TextInput
      label={props.required ? t('Reason') : t('Reason (optional)')}
      description={t('Shown in the history, also to the company or the practice. Name no patient.')}
      maxLength={500}
      autoComplete="off"
      {...props}
    />
  )
}

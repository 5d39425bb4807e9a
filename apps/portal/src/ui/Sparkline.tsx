const width = 112
const height = 28

/** Values over some days as small bars; `label`: what they show, for screen readers. A value above 0 is always seen. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  const max = Math.max(1, ...values)
  const step = width / values.length
  return (
    <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      {values.map((value, index) => {
        const tall = value === 0 ? 1 : Math.max(3, (value / max) * height)
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: the place of a day is what it is
            key={index}
            x={index * step}
            y={height - tall}
            width={step - 2}
            height={tall}
            fill={`var(--mantine-color-${value === 0 ? 'default-border' : 'indigo-filled'})`}
          />
        )
      })}
    </svg>
  )
}

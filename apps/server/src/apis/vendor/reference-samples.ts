/**
 * A plugin of the reference page: the code samples of an operation above its responses. It is sent to the browser as its source, so it
 * stands alone: only what the page gives it, and no name from outside.
 */
export function showCodeSamples({ React }: { React: { createElement: CreateElement } }) {
  const { createElement } = React
  type Sample = { lang: string; label: string; source: string }
  const samplesOf = ({ path, method, specSelectors }: ResponsesProps): Sample[] => {
    const samples = specSelectors.specJson().getIn(['paths', path, method, 'x-codeSamples'])
    return samples ? samples.toJS() : []
  }
  return {
    wrapComponents: {
      responses: (Responses: unknown) => (props: ResponsesProps) =>
        createElement(
          'div',
          null,
          ...samplesOf(props).map(({ label, source }) =>
            createElement(
              'details',
              { key: label, style: { margin: '0 20px 8px' } },
              createElement('summary', { style: { cursor: 'pointer', font: '600 14px sans-serif' } }, label),
              createElement('pre', { style: { whiteSpace: 'pre-wrap' } }, createElement('code', null, source)),
            ),
          ),
          createElement(Responses, props),
        ),
    },
  }
}

type CreateElement = (type: unknown, props: object | null, ...children: unknown[]) => unknown
type ResponsesProps = {
  path: string
  method: string
  specSelectors: { specJson: () => { getIn: (path: string[]) => { toJS: () => never[] } | undefined } }
}

/** Answers of a server as somebody else is to see them. */
import type { Transport } from '@reeve/kube';

type Body = Awaited<ReturnType<Transport>>['body'];

/** Line by line. */
export function edited(body: Body, edit: (line: string) => string): Body {
  const lines = (text: string) => text.replaceAll(/[^\n]+/g, edit);
  if (body instanceof Uint8Array) return Buffer.from(lines(Buffer.from(body).toString()));
  return (async function* () {
    let rest = '';
    for await (const chunk of body) {
      const text = rest + Buffer.from(chunk).toString();
      const end = text.lastIndexOf('\n') + 1;
      rest = text.slice(end);
      yield Buffer.from(lines(text.slice(0, end)));
    }
  })();
}

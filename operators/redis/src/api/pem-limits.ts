/** How much of a Secret with certificates is read at all: whoever may write one must not keep the operator busy. By lengths alone. Pure. */
import type { TlsParts } from './certificates.ts';

/** An RSA key of 8,192 bits has 6,500 characters. */
const MOST_KEY_TEXT = 16_384;
const MOST_TEXT = 131_072;
/** Nobody has longer chains or bundles. */
export const MOST_CERTIFICATES = 32;

/** What there is too much of, in words for people. Undefined: it can be read. */
export function excessOf({ cert, key, ca }: TlsParts): string | undefined {
  if (key.length > MOST_KEY_TEXT) return `tls.key has more than ${MOST_KEY_TEXT} characters`;
  for (const [part, text] of [
    ['tls.crt', cert],
    ['ca.crt', ca],
  ] as const) {
    if (text.length > MOST_TEXT) return `${part} has more than ${MOST_TEXT} characters`;
    if (text.split('-----BEGIN ').length - 1 > MOST_CERTIFICATES) {
      return `${part} has more than ${MOST_CERTIFICATES} certificates`;
    }
  }
  return undefined;
}

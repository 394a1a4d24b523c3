/** Numbers and quoted text as Go's `%v` and `%q` write them: messages of the real server are full of both. */

/** A double, shortest form: an exponent from a million upwards and below a ten-thousandth. */
export function goNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  return power < -4 || power >= 6 ? withExponent(mantissa, power) : plain(value);
}

function withExponent(mantissa: string, power: number): string {
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

/** Without an exponent, whatever its size. */
export function plain(value: number): string {
  const text = String(value);
  if (!text.includes('e')) return text;
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e');
  const sign = mantissa.startsWith('-') ? '-' : '';
  const digits = mantissa.replace(/[-.]/g, '');
  const power = Number(exponent);
  if (power < 0) return `${sign}0.${'0'.repeat(-power - 1)}${digits}`;
  return `${sign}${digits.padEnd(power + 1, '0')}`;
}

const escapes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

/** What is written as it is; most texts are nothing else. */
const ordinary = /^[ !#-[\]-~]*$/;

export function goQuote(text: string): string {
  if (ordinary.test(text)) return `"${text}"`;
  let quoted = '';
  for (const character of text)
    quoted += escapes[character] ?? (isPrintable(character) ? character : numbered(character));
  return `"${quoted}"`;
}

function isPrintable(character: string): boolean {
  return character === ' ' || /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(character);
}

function numbered(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (code > 0xffff) return `\\U${code.toString(16).padStart(8, '0')}`;
  return code >= 0xd800 && code <= 0xdfff ? '\\ufffd' : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** With so many digits after the point, rounded exactly and halves to even: `toFixed` rounds halves up. */
export function fixedPoint(value: number, digits: number): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, Math.abs(value));
  const bits = view.getBigUint64(0);
  const exponent = Number(bits >> 52n);
  const mantissa = (bits & (2n ** 52n - 1n)) | (exponent === 0 ? 0n : 2n ** 52n);
  const power = BigInt(Math.max(exponent, 1) - 1075);
  const scaled = mantissa * 10n ** BigInt(digits);
  let rounded = power >= 0n ? scaled << power : scaled >> -power;
  if (power < 0n) {
    const rest = scaled - (rounded << -power);
    const half = 2n ** (-power - 1n);
    if (rest > half || (rest === half && rounded % 2n === 1n)) rounded += 1n;
  }
  const text = rounded.toString().padStart(digits + 1, '0');
  const whole = text.slice(0, text.length - digits);
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  return `${sign}${whole}${digits === 0 ? '' : `.${text.slice(text.length - digits)}`}`;
}

/** Names of Kubernetes: what they may look like, and the server's words when they do not. Empty means: fine. */

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const DNS1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const LABEL_VALUE = `(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?`;

const labelPattern = new RegExp(`^${LABEL}$`);
const dns1035Pattern = new RegExp(`^${DNS1035}$`);
const qualifiedPattern = /^(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

const LONGEST_LABEL = 63;
const LONGEST_SUBDOMAIN = 253;

function tooLong(text: string, most: number): readonly string[] {
  return Buffer.byteLength(text) > most ? [`must be no more than ${most} bytes`] : [];
}

function mismatch(message: string, pattern: string, ...examples: readonly string[]): string {
  const [first, ...others] = examples.map((example) => `'${example}'`);
  const eg = [`e.g. ${first}`, ...others.map((other) => ` or ${other}`)].join(', ');
  return `${message} (${eg}, regex used for validation is '${pattern}')`;
}

/** A prefix may end in a dash: something will be appended. */
const withoutDash = (text: string, isPrefix: boolean): string =>
  isPrefix && text.endsWith('-') ? `${text.slice(0, -1)}a` : text;

export function dns1123Label(text: string, isPrefix = false): readonly string[] {
  const name = withoutDash(text, isPrefix);
  const problems = tooLong(name, LONGEST_LABEL);
  if (labelPattern.test(name)) return problems;
  const message =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
  return [...problems, mismatch(message, LABEL, 'my-name', '123-abc')];
}

export function dns1123Subdomain(text: string, isPrefix = false): readonly string[] {
  const name = withoutDash(text, isPrefix);
  const problems = tooLong(name, LONGEST_SUBDOMAIN);
  // Label by label: one pattern for all of them would backtrack.
  if (name.split('.').every((label) => labelPattern.test(label))) return problems;
  const message =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
  return [...problems, mismatch(message, SUBDOMAIN, 'example.com')];
}

export function dns1035Label(text: string, isPrefix = false): readonly string[] {
  const name = withoutDash(text, isPrefix);
  const problems = tooLong(name, LONGEST_LABEL);
  if (dns1035Pattern.test(name)) return problems;
  const message =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
  return [...problems, mismatch(message, DNS1035, 'my-name', 'abc-123')];
}

const qualifiedMessage =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

export function qualifiedName(text: string): readonly string[] {
  const parts = text.split('/');
  const problems: string[] = [];
  const name = parts.at(-1) as string;
  if (parts.length === 2) {
    const prefix = parts[0] as string;
    if (prefix === '') problems.push('prefix part must be non-empty');
    else problems.push(...dns1123Subdomain(prefix).map((problem) => `prefix part ${problem}`));
  } else if (parts.length > 2) {
    const message = `a valid label key ${qualifiedMessage}`;
    return [
      `${mismatch(message, QUALIFIED, 'MyName', 'my.name', '123-abc')} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  if (name === '') problems.push('name part must be non-empty');
  else problems.push(...tooLong(name, LONGEST_LABEL).map((problem) => `name part ${problem}`));
  if (!qualifiedPattern.test(name)) {
    problems.push(`name part ${mismatch(qualifiedMessage, QUALIFIED, 'MyName', 'my.name', '123-abc')}`);
  }
  return problems;
}

export function labelValue(text: string): readonly string[] {
  const problems = tooLong(text, LONGEST_LABEL);
  if (text === '' || qualifiedPattern.test(text)) return problems;
  const message =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
  return [...problems, mismatch(message, LABEL_VALUE, 'MyValue', 'my_value', '12345')];
}

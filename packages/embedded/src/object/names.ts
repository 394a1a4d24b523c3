/** Rules for names and labels, with the server's explanations. Each answers what is wrong; nothing means it is right. */

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain = `${label}(\\.${label})*`;
const dns1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const qualified = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const labelValue = `(${qualified})?`;

const isLabel = new RegExp(`^${label}$`);
const isSubdomain = new RegExp(`^${subdomain}$`);
const isDns1035 = new RegExp(`^${dns1035}$`);
const isQualified = new RegExp(`^${qualified}$`);
const isLabelValue = new RegExp(`^${labelValue}$`);

const ALNUM_ENDS = 'must start and end with an alphanumeric character';
const QUALIFIED_TEXT = `must consist of alphanumeric characters, '-', '_' or '.', and ${ALNUM_ENDS}`;

const tooLong = (most: number): string => `must be no more than ${most} characters`;
const breaks = (rule: string, regex: string, ...examples: readonly string[]): string =>
  `${rule} (e.g. ${examples.map((one) => `'${one}'`).join(',  or ')}, regex used for validation is '${regex}')`;
const bytes = (text: string): number => Buffer.byteLength(text);

/** Says what is wrong with a name; `isPrefix` for what a generated name begins with. */
export type NameRule = (name: string, isPrefix: boolean) => readonly string[];

/** A prefix may end with a dash: something follows. */
function unmask(name: string, isPrefix: boolean): string {
  return isPrefix && name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name;
}

export const dnsLabel: NameRule = (given, isPrefix) => {
  const name = unmask(given, isPrefix);
  const problems: string[] = [];
  if (bytes(name) > 63) problems.push(tooLong(63));
  if (isLabel.test(name)) return problems;
  problems.push(
    isSubdomain.test(name)
      ? 'must not contain dots'
      : breaks(
          `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and ${ALNUM_ENDS}`,
          label,
          'my-name',
          '123-abc',
        ),
  );
  return problems;
};

export const dnsSubdomain: NameRule = (given, isPrefix) => {
  const name = unmask(given, isPrefix);
  const problems: string[] = [];
  if (bytes(name) > 253) problems.push(tooLong(253));
  if (!isSubdomain.test(name)) {
    const rule = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and ${ALNUM_ENDS}`;
    problems.push(breaks(rule, subdomain, 'example.com'));
  }
  return problems;
};

export const dns1035Label: NameRule = (given, isPrefix) => {
  const name = unmask(given, isPrefix);
  const problems: string[] = [];
  if (bytes(name) > 63) problems.push(tooLong(63));
  if (!isDns1035.test(name)) {
    const rule =
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
    problems.push(breaks(rule, dns1035, 'my-name', 'abc-123'));
  }
  return problems;
};

/** What can stand in a path; all that names of RBAC must be. */
export const pathSegment: NameRule = (name, isPrefix) => {
  if (!isPrefix && (name === '.' || name === '..')) return [`may not be '${name}'`];
  return ['/', '%'].filter((mark) => name.includes(mark)).map((mark) => `may not contain '${mark}'`);
};

/** Keys of labels and annotations, finalizers. */
export function qualifiedName(text: string): readonly string[] {
  const example = (): string => breaks(QUALIFIED_TEXT, qualified, 'MyName', 'my.name', '123-abc');
  const parts = text.split('/');
  if (parts.length > 2) {
    return [`a valid label key ${example()} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const problems: string[] = [];
  const name = parts.at(-1) as string;
  if (parts.length === 2) {
    const prefix = parts[0] as string;
    if (prefix === '') problems.push('prefix part must be non-empty');
    else for (const problem of dnsSubdomain(prefix, false)) problems.push(`prefix part ${problem}`);
  }
  if (name === '') problems.push('name part must be non-empty');
  else if (bytes(name) > 63) problems.push(`name part ${tooLong(63)}`);
  if (!isQualified.test(name)) problems.push(`name part ${example()}`);
  return problems;
}

export function labelValueProblems(value: string): readonly string[] {
  const problems: string[] = [];
  if (bytes(value) > 63) problems.push(tooLong(63));
  if (!isLabelValue.test(value)) {
    const rule = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and ${ALNUM_ENDS}`;
    problems.push(breaks(rule, labelValue, 'MyValue', 'my_value', '12345'));
  }
  return problems;
}

/** Plain data as YAML in block style, for files that people read and kubectl applies. Texts are quoted as in JSON, which YAML allows. */
const plainKey = /^[A-Za-z_][A-Za-z0-9_./-]*$/;
/** Keys that YAML 1.1 readers take for something else. */
const words = new Set(['y', 'n', 'yes', 'no', 'on', 'off', 'true', 'false', 'null']);

export function toYaml(...documents: readonly unknown[]): string {
  return documents.map((document) => lines(document, '').join('\n')).join('\n---\n') + '\n';
}

function lines(value: unknown, indent: string): readonly string[] {
  if (Array.isArray(value) && value.length > 0) {
    return value.flatMap((item) => {
      const [first = '', ...rest] = lines(item, `${indent}  `);
      return [`${indent}- ${first.trimStart()}`, ...rest];
    });
  }
  if (isFilled(value)) {
    return Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .flatMap(([key, inner]) => {
        const name = plainKey.test(key) && !words.has(key.toLowerCase()) ? key : JSON.stringify(key);
        if (!isNested(inner)) return [`${indent}${name}: ${JSON.stringify(inner)}`];
        return [`${indent}${name}:`, ...lines(inner, `${indent}  `)];
      });
  }
  return [`${indent}${JSON.stringify(value)}`];
}

function isFilled(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).some((inner) => inner !== undefined);
}

function isNested(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : isFilled(value);
}

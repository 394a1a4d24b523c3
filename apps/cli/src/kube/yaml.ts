/** YAML as people of Kubernetes write and read it. */
import { createRequire } from 'node:module';
import type { ScalarTag } from 'yaml';
import { cliError } from '../errors.ts';

/** Asked for by the first text: whoever wants a table does without. */
const load = createRequire(import.meta.url);
const library = (): typeof import('yaml') => load('yaml') as typeof import('yaml');

/** `defaultMode: 0644` is octal to kubectl, whose YAML is older. */
const octal: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  test: /^0[0-7]+$/,
  resolve: (text) => Number.parseInt(text, 8),
};

/** All documents of a text that are not empty. JSON is YAML. Large integers stay exact. */
export function readDocuments(text: string, file: string): readonly unknown[] {
  const documents = library().parseAllDocuments(text, {
    customTags: (tags) => [octal, ...tags],
    intAsBigInt: true,
    merge: true,
    prettyErrors: false,
    uniqueKeys: true,
  });
  return [...documents].flatMap((document) => {
    const [problem] = document.errors;
    if (problem) {
      const line = text.slice(0, problem.pos[0]).split('\n').length;
      throw cliError('MANIFEST_INVALID', `${file}: line ${line} is no YAML: ${problem.message.split('\n', 1)[0]}`, [
        file,
      ]);
    }
    const value: unknown = document.toJS({ maxAliasCount: 100 });
    return value === null || value === undefined ? [] : [withNumbers(value)];
  });
}

/** Integers that a number can hold are numbers. */
function withNumbers(value: unknown): unknown {
  if (typeof value === 'bigint') {
    return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
  }
  if (Array.isArray(value)) return value.map(withNumbers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withNumbers(item)]));
}

/** Texts that an older reader would take for something else (`yes`, times, `0644`) are quoted. */
export function yamlText(value: unknown): string {
  return library().stringify(value, { schema: 'yaml-1.1', lineWidth: 0, aliasDuplicateObjects: false });
}

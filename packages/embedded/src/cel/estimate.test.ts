/** Costs before anything runs. The figures are those of the real server's estimator. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { declareType } from '../schema/declared-type.ts';
import { definitionErrors } from '../schema/definition.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import { compile } from './environment.ts';
import { estimateCost } from './estimate.ts';

const text: JsonSchema = { type: 'string', maxLength: 10 };
const schema: JsonSchema = {
  type: 'object',
  properties: { n: { type: 'integer' }, s: text, l: { type: 'array', maxItems: 5, items: text } },
};

function cost(rule: string): number {
  const declared = declareType(schema, false);
  assert.ok(declared);
  const program = compile(rule, new Map([['self', declared.type]]));
  assert.ok(!('problem' in program));
  return estimateCost(program.tree, (path) => {
    let current: typeof declared | undefined = declared;
    for (const part of path.slice(1)) current = part === '@items' ? current?.element : current?.fields?.get(part);
    return current?.maxElements;
  });
}

test('costs grow with what the schema allows', () => {
  assert.equal(cost('self.n > 1'), 3);
  assert.equal(cost('self.s == "a"'), 3);
  assert.equal(cost('self.l.all(x, x == "a")'), 28);
  assert.equal(cost('self.s.matches("^[a-z]+$")'), 12);
  assert.equal(cost('self.l.exists_one(x, x.startsWith("a"))'), 24);
  assert.equal(cost('true || self.l.size() > 3'), 4);
});

test('a rule that could cost too much is refused with the definition, and says by how much', () => {
  const free: JsonSchema = { type: 'array', items: { type: 'string' } };
  const errors = definitionErrors(
    {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: { l: free },
          'x-kubernetes-validations': [{ rule: 'self.l.all(x, self.l.all(y, x == y))' }],
        },
      },
    },
    'x',
  );
  assert.deepEqual(
    errors.map(({ field, message }) => `${field}: ${message.slice(0, 92)}`),
    [
      'x.properties[spec].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying t',
      'x.properties[spec].x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv',
      'x: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema ex',
    ],
  );
});

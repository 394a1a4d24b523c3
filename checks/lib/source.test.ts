import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blank, importsOf } from './source.ts';

test('comments and literals are blanked, offsets and lines stay', () => {
  const text = "const a = 'x // y'; // let b\n/* new\nDate */ const r = /[/'\"]/; const t = `a${`}`}b`; c / d / e;\n";
  const { code, withoutComments } = blank(text);
  assert.equal(code.length, text.length);
  assert.equal(code.split('\n').length, text.split('\n').length);
  assert.doesNotMatch(code, /let|new|Date|x|y/);
  assert.match(code, /const r = \/ +\/; const t = ` +`; c \/ d \/ e;/);
  assert.match(withoutComments, /'x \/\/ y'/);
  assert.doesNotMatch(withoutComments, /let b/);
});

test('static, dynamic and type imports and re-exports are found; text that looks like one is not', () => {
  const text = [
    "import { a } from './a.ts';",
    'import "./b.ts";',
    "export * from './c.ts';",
    "const d = await import('./d.ts');",
    "type E = import('./e.ts').E;",
    "// import './no.ts'",
    'const s = "import \'./no.ts\'";',
    "const b = Buffer.from('no'); from('no');",
  ].join('\n');
  assert.deepEqual(
    importsOf(text).map(({ name, line }) => `${line} ${name}`),
    ['1 ./a.ts', '2 ./b.ts', '3 ./c.ts', '4 ./d.ts', '5 ./e.ts'],
  );
});

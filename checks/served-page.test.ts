import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessServed, builtinKinds } from '@reeve/embedded';
import { servedPage } from './served-page.ts';

const page = servedPage(builtinKinds, accessServed);

test('the page has a row for every kind, those that are only asked included', () => {
  assert.equal(accessServed.reviews.length, 6);
  for (const { kind, plural } of [...builtinKinds, ...accessServed.reviews]) {
    assert.ok(page.includes(`| ${kind} | \`${plural}\` |`), kind);
  }
  assert.match(page, /\| `authorization\.k8s\.io\/v1` \| LocalSubjectAccessReview \| [^|]+ \|  \| yes \| c \|/);
});

test('the page tells of tokens and of acting as somebody else', () => {
  assert.ok(page.includes('`serviceaccounts/token`'));
  for (const header of ['user', 'uid', 'group', 'extra-KEY'])
    assert.ok(page.includes(`\`impersonate-${header}\``), header);
  for (const mode of accessServed.impersonation.modes) assert.ok(page.includes(mode), mode);
});

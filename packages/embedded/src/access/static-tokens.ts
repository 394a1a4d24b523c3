/** Tokens that are given out by hand: `token,user,uid,"group1,group2"`. */
import { createHash } from 'node:crypto';
import type { User } from './access.ts';

export interface StaticToken {
  readonly token: string;
  readonly user: User;
}

const SHORTEST = 16;

export interface ParsedTokens {
  readonly tokens: readonly StaticToken[];
  /** Never quotes a token. */
  readonly problem?: string;
}

export function parseTokens(text: string): ParsedTokens {
  const tokens: StaticToken[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const fail = (why: string): ParsedTokens => ({ tokens: [], problem: `${why} in line ${index + 1}` });
    const fields = csvFields(line);
    if (fields === undefined) return fail('has a quote that is not closed');
    const [token = '', name = '', uid = '', groups = ''] = fields.map((one) => one.trim());
    if (token.length < SHORTEST || /\s/.test(token)) return fail(`holds no token of at least ${SHORTEST} characters`);
    if (name === '') return fail('names no user');
    if (tokens.some((one) => one.token === token)) return fail('holds a token twice, again');
    const ofUser = groups.split(',').filter((group) => group !== '');
    tokens.push({ token, user: { name, ...(uid === '' ? {} : { uid }), groups: ofUser } });
  }
  return { tokens };
}

/** Fields between commas; one in quotes may have commas, and quotes written twice. */
function csvFields(line: string): readonly string[] | undefined {
  const fields: string[] = [];
  let rest = line;
  for (;;) {
    const quoted = /^\s*"((?:[^"]|"")*)"\s*(,|$)/.exec(rest);
    if (quoted === null && /^\s*"/.test(rest)) return undefined;
    const found = quoted ?? (/^([^,]*)(,|$)/.exec(rest) as RegExpExecArray);
    fields.push((found[1] as string).replaceAll('""', '"'));
    if (found[2] === '') return fields;
    rest = rest.slice(found[0].length);
  }
}

const digest = (token: string): string => createHash('sha256').update(token).digest('base64');

/** Found by their digests: how long it takes says nothing about how much of a token is right. */
export function staticTokenLookup(tokens: readonly StaticToken[]): (token: string) => User | undefined {
  const users = new Map(tokens.map(({ token, user }) => [digest(token), user]));
  return (token) => users.get(digest(token));
}

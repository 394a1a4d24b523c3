/** Files that hold secrets: only their owner may read them. Keys and lists of tokens. */
import { createHash, createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { constants } from 'node:fs';
import { link, open, rename, rm } from 'node:fs/promises';
import { EmbeddedError, type EmbeddedErrorCode } from '../errors/errors.ts';
import type { User } from './access.ts';
import { type SigningKey, signingKey } from './jwt.ts';
import { parseTokens, type StaticToken } from './static-tokens.ts';

const MOST = 1024 * 1024;

/** The mode is that of the very file that is read. */
async function readSecret(path: string, code: EmbeddedErrorCode): Promise<string | undefined> {
  try {
    await using file = await open(path, constants.O_RDONLY);
    const { mode, size } = await file.stat();
    if ((mode & 0o077) !== 0) throw refuse(code, path, 'may be read by others: its mode must be 0600');
    if (size > MOST) throw refuse(code, path, 'is too large');
    return await file.readFile('utf8');
  } catch (error) {
    if (error instanceof EmbeddedError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw refuse(code, path, `cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const refuse = (code: EmbeddedErrorCode, path: string, why: string): EmbeddedError =>
  new EmbeddedError(code, `${path} ${why}`, [path]);

/** Lines of `token,user,uid,"group1,group2"`, as the real server reads them. */
export async function readTokensFile(path: string): Promise<readonly StaticToken[]> {
  const text = await readSecret(path, 'EMBEDDED_TOKEN_FILE');
  if (text === undefined) throw refuse('EMBEDDED_TOKEN_FILE', path, 'is not there');
  const { tokens, problem } = parseTokens(text);
  if (problem !== undefined) throw refuse('EMBEDDED_TOKEN_FILE', path, problem);
  return tokens;
}

/** The same; a file with one token of this user is made if there is none. It is whole or not there, whenever this process dies. */
export async function openTokensFile(path: string, user: User): Promise<readonly [StaticToken, ...StaticToken[]]> {
  if ((await readSecret(path, 'EMBEDDED_TOKEN_FILE')) === undefined) {
    const line = `${newToken()},${user.name},${user.uid ?? user.name},"${user.groups.join(',')}"\n`;
    try {
      await writeWhole(path, line);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw refuse('EMBEDDED_TOKEN_FILE', path, `cannot be written: ${why}`);
    }
  }
  const [first, ...others] = await readTokensFile(path);
  if (first === undefined) throw refuse('EMBEDDED_TOKEN_FILE', path, 'holds no token');
  return [first, ...others];
}

async function writeWhole(path: string, text: string): Promise<void> {
  const beside = `${path}.new`;
  await writeSynced(beside, text);
  await rename(beside, path);
}

async function writeSynced(path: string, text: string): Promise<void> {
  await using file = await open(path, 'w', 0o600);
  await file.writeFile(text);
  await file.sync();
}

/** A key is as hard to guess as a token must be, and its digest does not tell it. */
function newToken(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return createHash('sha256')
    .update(privateKey.export({ type: 'pkcs8', format: 'der' }))
    .digest('hex');
}

/** The key that signs tokens of service accounts; made (on the curve P-256) if the file is not there. */
export async function openSigningKey(path: string): Promise<SigningKey> {
  const text = (await readSecret(path, 'EMBEDDED_KEY_FILE')) ?? (await createKey(path));
  let key: SigningKey | undefined;
  try {
    key = signingKey(createPrivateKey(text));
  } catch {
    // What the parser says could quote the key.
    throw refuse('EMBEDDED_KEY_FILE', path, 'holds no private key in PEM');
  }
  if (key === undefined)
    throw refuse('EMBEDDED_KEY_FILE', path, 'holds neither an RSA key of 2048 bits nor one of P-256');
  return key;
}

/** Whole or not there, whenever this process dies. Whoever comes second reads what the first one wrote. */
async function createKey(path: string): Promise<string> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const text = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  // A name that nobody else writes to: two who come at once must not write into one file.
  const own = createHash('sha256').update(publicKey.export({ type: 'spki', format: 'der' }));
  const beside = `${path}.${own.digest('hex').slice(0, 16)}.new`;
  try {
    await writeSynced(beside, text);
    // Unlike a rename it does not take the place of what is there.
    await link(beside, path);
    return text;
  } catch (error) {
    const found = (error as NodeJS.ErrnoException).code === 'EEXIST' && (await readSecret(path, 'EMBEDDED_KEY_FILE'));
    if (found) return found;
    throw refuse(
      'EMBEDDED_KEY_FILE',
      path,
      `cannot be written: ${error instanceof Error ? error.message : String(error)}`,
    );
  } finally {
    await rm(beside, { force: true });
  }
}

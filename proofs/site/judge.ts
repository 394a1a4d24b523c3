/** Two judges of a running cluster that share no code with the product: our invariants, and the server package's own check. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Access,
  type CliAccess,
  type Endpoint,
  invariants,
  type Product,
  serverCheck,
  temporaryFolder,
  until,
} from '@reeve/rig';

export interface Judged {
  readonly product: Product;
  readonly access: Access;
  endpoints(): Promise<readonly Endpoint[]>;
}

export interface Expectation {
  readonly acknowledged: ReadonlyMap<string, string>;
  readonly replicasPerPrimary: number;
}

const MOST_TEXT = 4_000;

/** Empty: nothing is amiss. Gossip gets a moment to settle. */
export async function judge({ product, access, endpoints }: Judged, expected: Expectation): Promise<readonly string[]> {
  const cliAccess = withFiles(access);
  let problems: readonly string[] = [];
  const isClean = async () => {
    const all = await endpoints();
    problems = await invariants(all, { ...expected, access });
    const check = await serverCheck(product, all[0] as Endpoint, cliAccess);
    if (check.code !== 0) problems = [...problems, `${check.by} --cluster check: ${check.code}\n${check.output}`];
    return problems.length === 0;
  };
  await until('the judges are content', isClean, { timeoutMs: 60_000, everyMs: 500 }).catch((error: unknown) => {
    if (problems.length === 0) problems = [String(error)];
  });
  return problems.map((problem) => problem.slice(0, MOST_TEXT));
}

/** Command line tools read certificates from files. */
function withFiles(access: Access): CliAccess {
  if (!access.tls) return access;
  const folder = temporaryFolder('judge');
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const { ca, cert, key } = access.tls;
  const files = { caFile: file('ca.crt', ca), certFile: file('tls.crt', cert), keyFile: file('tls.key', key) };
  return { ...access, files };
}

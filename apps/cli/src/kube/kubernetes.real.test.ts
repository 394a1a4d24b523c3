/** The commands on the real kube-apiserver: nothing in them may depend on ours. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { definitionOf, type Kube, REEVE, run, startKube } from '@reeve/rig';

const widget = (size: number) => `apiVersion: example.dev/v1
kind: Widget
metadata: { name: w }
spec: { size: ${size}, large: 9007199254740993 }
`;

describe('reeve on Kubernetes', () => {
  let kube: Kube;
  before(async () => {
    kube = await startKube({ controllerManager: true });
  });
  after(() => kube?.stop());

  const reeve = (args: readonly string[], input = '') =>
    run(process.execPath, [REEVE, ...args, '--kubeconfig', kube.kubeconfig], { timeoutMs: 60_000, input });
  const ok = async (args: readonly string[], input = ''): Promise<string> => {
    const { code, stdout, stderr } = await reeve(args, input);
    assert.equal(code, 0, `reeve ${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  };

  it('applies a definition and its first object from one file, and shows it as the definition says', async () => {
    const spec = {
      type: 'object',
      properties: { size: { type: 'integer' }, large: { type: 'integer', format: 'int64' } },
    };
    const columns = [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }];
    const definition = definitionOf({
      group: 'example.dev',
      kind: 'Widget',
      schema: { type: 'object', properties: { spec } },
      version: { additionalPrinterColumns: columns },
    });
    const text = `${JSON.stringify(definition)}\n---\n${widget(3)}`;
    assert.equal(
      await ok(['apply', '-f', '-'], text),
      'customresourcedefinition.apiextensions.k8s.io/widgets.example.dev created\nwidget.example.dev/w created\n',
    );
    assert.match(await ok(['get', 'widget']), /^NAME +SIZE\nw +3\n$/, 'the table of the server');
    assert.match(await ok(['get', 'widget/w', '-o', 'json']), /"large": 9007199254740993\b/);
    assert.match(await ok(['get', 'widget/w', '-o', 'yaml']), /^ {2}large: 9007199254740993$/m);
    assert.equal(await ok(['apply', '-f', '-'], widget(3)), 'widget.example.dev/w unchanged\n');
    assert.equal(await ok(['apply', '-f', '-', '--dry-run'], widget(4)), 'widget.example.dev/w would be changed\n');
    assert.equal(await ok(['apply', '-f', '-', '--dry-run'], widget(3)), 'widget.example.dev/w unchanged\n');
  });

  it('tells whose a field is, and takes it over when told to', async () => {
    await kube.kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], { input: widget(7) });
    const refused = await reeve(['apply', '-f', '-'], widget(8));
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /\.spec\.size: of "kubectl" .*\[APPLY_CONFLICT\]/s);
    assert.equal(await ok(['apply', '-f', '-', '--force'], widget(8)), 'widget.example.dev/w changed\n');
    const unknown = await reeve(['apply', '-f', '-'], widget(8).replace('size:', 'sise:'));
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /sise.*\[KUBE_INVALID\]/s);
  });

  it('lists, watches, tells of events, and deletes with what is owned', async () => {
    const pod = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'none' }] } };
    const set = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'r' },
      spec: { replicas: 1, selector: { matchLabels: { a: 'b' } }, template: pod },
    };
    await ok(['apply', '-f', '-'], JSON.stringify(set));
    const watching = spawn(
      process.execPath,
      [REEVE, 'get', 'pods', '--watch', '-l', 'a=b', '-o', 'name', '--kubeconfig', kube.kubeconfig],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    );
    const ended = once(watching, 'exit');
    const [first] = (await once(watching.stdout.setEncoding('utf8'), 'data')) as [string];
    assert.match(first, /^pod\/r-\w+\n/);
    watching.kill('SIGINT');
    assert.deepEqual(await ended, [0, null], 'Ctrl-C is how one stops looking on');
    assert.match(await ok(['get', 'rs,po', '-l', 'a=b']), /^(?!.*replicaset)[^]*pod\/r-/);
    assert.match(await ok(['get', 'po']), /^NAME +READY +STATUS +RESTARTS +AGE\nr-\w+ +0\/1 +Pending +0 /);
    assert.match(await ok(['events', 'replicaset/r']), /SuccessfulCreate +replicaset\/r +Created pod: r-/);
    const gone = await ok(['delete', 'rs', 'r', '--cascade', 'foreground', '--wait', '--timeout', '50']);
    assert.equal(gone, 'replicaset.apps/r deleted\n');
    assert.equal((await reeve(['get', 'pods'])).stderr, 'no pods in namespace default\n');
    assert.match((await reeve(['logs', 'nothing'])).stderr, /pods "nothing" not found \[KUBE_NOT_FOUND\]/);
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTelemetry } from '../../src/platform/hosting/start-telemetry.ts';
import { createPlatform } from '../../src/platform/platform.ts';
import { createMemoryLog } from '../../src/adapters/stores/memory.ts';
import { systemClock } from '../../src/base/clock.ts';
import { inFolder } from '../support/bundles.ts';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

function aLogger() {
  const lines: string[] = [];
  const say = (level: string) => (line: string) => void lines.push(`${level}: ${line}`);
  return { lines, logger: { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') } };
}

/** The operator's package, as far as it is used. */
function aSdk() {
  const did: string[] = [];
  class NodeSDK {
    constructor({ serviceName, sampler }: { serviceName: string; sampler?: { share: number } }) {
      did.push(`new ${serviceName} ${sampler?.share ?? 'all'}`);
    }
    start(): void {
      did.push('start');
    }
    shutdown(): Promise<void> {
      did.push('shutdown');
      return Promise.resolve();
    }
  }
  class TraceIdRatioBasedSampler {
    readonly share: number;
    constructor(share: number) {
      this.share = share;
    }
  }
  return { did, importPackage: () => Promise.resolve({ NodeSDK, tracing: { TraceIdRatioBasedSampler } }) };
}

test('nothing is loaded where no endpoint is set, or the SDK is switched off', async () => {
  const { logger, lines } = aLogger();
  const importPackage = () => Promise.reject(new Error('loaded'));
  const start = (environment: Record<string, string>) =>
    startTelemetry({ environment, logger, version: '1', importPackage });
  assert.equal(await start({}), undefined);
  assert.equal(await start({ OTEL_EXPORTER_OTLP_ENDPOINT: '' }), undefined);
  assert.equal(await start({ ...endpoint, OTEL_SDK_DISABLED: 'true' }), undefined);
  assert.deepEqual(lines, []);
});

test('an SDK that is missing is a line that says what to install', async () => {
  const { logger, lines } = aLogger();
  const importPackage = () => Promise.reject(new Error('not found'));
  assert.equal(await startTelemetry({ environment: endpoint, logger, version: '1', importPackage }), undefined);
  assert.deepEqual(lines, [
    'warn: OTEL_EXPORTER_OTLP_ENDPOINT is set and @opentelemetry/sdk-node is not installed: no traces and metrics are sent',
  ]);
});

test('an SDK that is there is started, and flushed at the end', async () => {
  const { logger } = aLogger();
  const sdk = aSdk();
  const environment = { ...endpoint, OTEL_SERVICE_NAME: 'desk' };
  const started = await startTelemetry({ environment, logger, version: '1', importPackage: sdk.importPackage });
  await started?.stop();
  assert.deepEqual(sdk.did, ['new desk all', 'start', 'shutdown']);
});

test('a share of traces is taken by their ids', async () => {
  const { logger } = aLogger();
  const sdk = aSdk();
  const environment = { ...endpoint, OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' };
  await startTelemetry({ environment, logger, version: '1', importPackage: sdk.importPackage });
  assert.equal(sdk.did[0], 'new treadle 0.25');
});

test('a bundle that names the observer is observed, and others are not', async () => {
  const open = (yaml: string) =>
    inFolder(yaml, { 's.json': '[{"text":"hi"}]' }, (bundle) =>
      createPlatform({ bundle, environment: {}, log: createMemoryLog({ clock: systemClock }) }),
    );
  const models = 'models: {balanced: {provider: scripted, script: ./s.json}}';
  const ids = (await open(`${models}\nplugins: {active: [observer.otel], observer.otel: {content: true}}`)).manifests;
  assert.ok((ids.find(({ id }) => id === 'observer.otel')?.listens.length ?? 0) > 5);
  assert.equal(
    (await open(models)).manifests.some(({ id }) => id === 'observer.otel'),
    false,
  );
});

import { isObject } from '../../base/json.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Telemetry } from '../../kernel/telemetry.ts';
import type { Environment } from '../bundle/environment.ts';

export interface StartTelemetryOptions {
  readonly environment: Environment;
  readonly logger: Logger;
  readonly version: string;
  /** Imports a package that the operator installed. */
  readonly importPackage?: ((name: string) => Promise<unknown>) | undefined;
}

export interface StartedTelemetry {
  readonly telemetry: Telemetry;
  /** Sends what is still here. Never throws. */
  stop(): Promise<void>;
}

const SDK = '@opentelemetry/sdk-node';
const ENDPOINTS = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
];

/**
 * Starts the OpenTelemetry SDK where the environment says where to send to; undefined where it does not. The SDK is a package
 * of the operator's: without it a log line says what to install, and nothing is sent.
 *
 * Everything else is the SDK's own to read: exporters, protocol, headers, resource, sampler.
 */
export async function startTelemetry({
  environment,
  logger,
  version,
  importPackage = (name): Promise<unknown> => import(name),
}: StartTelemetryOptions): Promise<StartedTelemetry | undefined> {
  const endpoint = ENDPOINTS.find((name) => isSet(environment[name]));
  if (endpoint === undefined || environment['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return undefined;
  let sdk: unknown;
  try {
    sdk = await importPackage(SDK);
  } catch (error) {
    const hint = `install it with \`npm install ${SDK}\`, or unset the variable`;
    logger.warn(`${endpoint} is set and ${SDK} is not installed: no traces and metrics are sent`, { hint, error });
    return undefined;
  }
  if (!isObject(sdk) || typeof sdk['NodeSDK'] !== 'function') {
    logger.warn(`${SDK} has no NodeSDK: no traces and metrics are sent`);
    return undefined;
  }
  const NodeSDK = sdk['NodeSDK'] as new (options: object) => NodeSdk; // checked as far as it can be
  try {
    const started = new NodeSDK({
      serviceName: environment['OTEL_SERVICE_NAME'] ?? 'treadle',
      instrumentations: [],
      ...sampler(sdk['tracing'], environment),
    });
    started.start();
    const { createOtelTelemetry } = await import('../../adapters/telemetry/otel-api.ts');
    logger.info('traces and metrics are sent to OpenTelemetry', { endpoint: environment[endpoint], version });
    return {
      telemetry: createOtelTelemetry(),
      async stop() {
        try {
          await started.shutdown();
        } catch (error) {
          logger.warn('the last traces and metrics could not be sent', { error });
        }
      },
    };
  } catch (error) {
    logger.error('OpenTelemetry could not be started: no traces and metrics are sent', { error });
    return undefined;
  }
}

interface NodeSdk {
  start(): void;
  shutdown(): Promise<void>;
}

/**
 * All spans of a turn hang from a place that is agreed upon, which a sampler that asks the parent takes for sampled. So a
 * share is taken by the id of the trace: the same answer in every process.
 */
function sampler(tracing: unknown, environment: Environment): object {
  if (environment['OTEL_TRACES_SAMPLER'] !== 'parentbased_traceidratio') return {};
  const share = Number(environment['OTEL_TRACES_SAMPLER_ARG'] ?? '1');
  const Ratio = isObject(tracing) ? tracing['TraceIdRatioBasedSampler'] : undefined;
  if (typeof Ratio !== 'function' || !(share >= 0 && share <= 1)) return {};
  return { sampler: new (Ratio as new (share: number) => object)(share) }; // as above
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}

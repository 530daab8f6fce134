import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { Clock } from '../../base/clock.ts';
import type { Model } from '../../kernel/model.ts';
import { AiSdkStream } from './ai-sdk-stream.ts';
import { toCallOptions } from './call-options.ts';
import { otherDialect, type Dialect } from './dialect.ts';
import { failureOf, publicUrl } from './failure.ts';
import { Parts } from './parts.ts';

export interface AiSdkOptions {
  readonly clock: Clock;
  /** Absent: what all providers have in common. */
  readonly dialect?: Dialect | undefined;
  /** Where the model is, for the message of a server that does not answer. */
  readonly url?: string | undefined;
  /** Never to appear in a message. */
  readonly secrets?: readonly string[] | undefined;
}

/** What a model's answer never is; some servers call their events plain text. */
const NO_MODEL = /^(text\/(html|css|xml)|application\/(xml|xhtml)|image\/)/i;

/** Any AI SDK language model as ours: one adapter for every `@ai-sdk/*` package. */
export function createAiSdkModel(languageModel: LanguageModelV4, options: AiSdkOptions): Model {
  const dialect = options.dialect ?? otherDialect(languageModel.provider.split('.')[0] ?? languageModel.provider);
  const { clock, url, secrets = [] } = options;
  return {
    call(request, { signal }) {
      const name = `${request.model.provider}/${request.model.model}`;
      const failure = (error: unknown) => failureOf(error, { name, url, secrets, now: clock.now() });
      const parts = new Parts({ key: dialect.key, maxTokens: request.model.maxTokens, failureOf: failure });
      const open = async (abortSignal: AbortSignal) => {
        const { stream, response } = await languageModel.doStream({ ...toCallOptions(request, dialect), abortSignal });
        const type = response?.headers?.['content-type'] ?? '';
        if (url !== undefined && NO_MODEL.test(type)) {
          void stream.cancel().catch(() => undefined);
          throw new Error(`the server at ${publicUrl(url)} did not answer like one of models, but with ${type}`);
        }
        return stream.getReader();
      };
      return new AiSdkStream(open, parts, failure, signal);
    },
  };
}

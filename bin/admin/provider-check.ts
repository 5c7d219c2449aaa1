import type { AdminConfig } from '../../shared/config/config.ts';
import { type Finding, fault, fine } from './check.ts';

const TIMEOUT_MS = 3000;

/** Checks that a model is configured and that its provider accepts the key, by listing models, which is free. */
export async function checkProvider({
  defaultModel,
  openai,
}: Pick<AdminConfig, 'defaultModel' | 'openai'>): Promise<Finding> {
  if (defaultModel === undefined) return fault('no model is configured', 'set DEFAULT_MODEL');
  if (openai !== undefined) return checkKey(defaultModel, openai);
  return defaultModel === 'local'
    ? fine('local, the built-in predictor; no key is set')
    : fault(`${defaultModel}, but no key`, 'set OPENAI_API_KEY, or DEFAULT_MODEL to local');
}

async function checkKey(model: string, openai: NonNullable<AdminConfig['openai']>): Promise<Finding> {
  const url = `${openai.baseUrl}/models`;
  const subject = `${model} at ${new URL(url).host}`;
  try {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${openai.apiKey}` },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    return judge(subject, response.status);
  } catch (error) {
    // `fetch failed` says nothing, its cause does.
    const reason = error instanceof Error ? (error.cause ?? error) : error;
    return fault(
      `${subject}: no answer (${reason instanceof Error ? reason.message : reason})`,
      'check OPENAI_BASE_URL, and that it can be reached from here',
    );
  }
}

function judge(subject: string, status: number): Finding {
  if (status >= 200 && status < 300) return fine(`${subject}, which accepts the key`);
  const found = `${subject} answered ${status}`;
  if (status === 401 || status === 403) return fault(`${found}: the key is wrong`, 'correct OPENAI_API_KEY');
  if (status === 404) return fault(found, 'correct OPENAI_BASE_URL: it usually ends in /v1');
  return fault(found, "check the provider's status page and your account's limits");
}

import { setGlobalProxyFromEnv } from 'node:http';
import type { AdminConfig } from '../../shared/config/config.ts';
import { LOCAL_MODEL } from '../../shared/domain/provider-call.ts';
import { type Finding, fault, fetchFailureOf, fine } from './checks.ts';

const PROVIDER_TIMEOUT_MS = 3000;
const LIST_BYTES_MAX = 4 * 1024 * 1024;
const BASE_URL_REMEDY = 'correct OPENAI_BASE_URL: it usually ends in /v1';

type ProviderConfig = Pick<AdminConfig, 'models' | 'openai'>;

/** Tests a key and the models by listing the provider's models, which is free. */
export async function checkProvider({ models, openai }: ProviderConfig): Promise<Finding> {
  if (models.length === 0) return fault('no model is configured', 'set DEFAULT_MODEL');
  const remote = models.filter((model) => model !== LOCAL_MODEL);
  if (remote.length === 0) return fine('local, the built-in predictor');
  if (openai !== undefined) return askProvider(remote, openai);
  return fault(`${remote.join(', ')}, but no key`, 'set OPENAI_API_KEY, or DEFAULT_MODEL to local');
}

async function askProvider(
  models: readonly string[],
  openai: NonNullable<AdminConfig['openai']>,
): Promise<Finding> {
  const url = `${openai.baseUrl}/models`;
  const subject = `${models.join(', ')} at ${new URL(url).host}`;
  const restoreProxy = openai.proxy === undefined ? undefined : setGlobalProxyFromEnv({ ...openai.proxy });
  try {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${openai.apiKey}` },
      redirect: 'error',
      signal: AbortSignal.timeout(PROVIDER_TIMEOUT_MS),
    });
    if (response.ok) return judgeList(subject, models, await response.text());
    await response.body?.cancel();
    return judgeProviderStatus(subject, response.status);
  } catch (error) {
    return fault(
      `${subject}: no answer (${fetchFailureOf(error)})`,
      'check OPENAI_BASE_URL and HTTPS_PROXY, and that it can be reached from here',
    );
  } finally {
    restoreProxy?.();
  }
}

function judgeProviderStatus(subject: string, status: number): Finding {
  const found = `${subject} answered ${status}`;
  if (status === 401 || status === 403) return fault(`${found}: the key is wrong`, 'correct OPENAI_API_KEY');
  if (status === 404) return fault(found, BASE_URL_REMEDY);
  return fault(found, "check the provider's status page and your account's limits");
}

function judgeModels(
  subject: string,
  models: readonly string[],
  listed: readonly string[] | undefined,
): Finding {
  // Some servers list a model with its publisher's path, or with a tag.
  const isListed = (model: string) =>
    listed?.some((id) => id === model || id.endsWith(`/${model}`) || id === `${model}:latest`) ?? true;
  const unknown = models.filter((model) => !isListed(model));
  if (unknown.length === 0) return fine(`${subject}, which accepts the key`);
  return fault(
    `${subject}: not among its ${listed?.length} models: ${unknown.join(', ')}`,
    'correct DEFAULT_MODEL, TAB_MODEL or FALLBACK_MODELS, or use a key that may use the model',
  );
}

/** A list that is empty, or not all of it, says nothing about a model. */
function judgeList(subject: string, models: readonly string[], text: string): Finding {
  if (text.length > LIST_BYTES_MAX) return judgeModels(subject, models, undefined);
  let list: ModelList | null;
  try {
    list = JSON.parse(text);
  } catch {
    return fault(`${subject} answered with no list of models`, BASE_URL_REMEDY);
  }
  const ids = Array.isArray(list?.data)
    ? list.data.flatMap((one) => (typeof one?.id === 'string' ? one.id : []))
    : [];
  return judgeModels(subject, models, list?.has_more || ids.length === 0 ? undefined : ids);
}

interface ModelList {
  data?: ({ id?: unknown } | null)[];
  has_more?: boolean;
}

import type { Account } from '../../shared/db/entities/account.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { type ErrorCode, statusOf } from '../../shared/errors/catalogue.ts';
import { LoginRequest, SignupRequest } from '../../shared/schemas/accounts.ts';
import type { Fault } from '../../shared/schemas/errors.ts';
import { compile, ValidationError } from '../../shared/schemas/validator.ts';
import type { AccountService } from '../accounts/service.ts';
import type { RequestContext, RequestState } from '../request/context.ts';
import type { Field, FieldError } from './fields.ts';

/** Why a form is refused. The form is shown again, with this status. */
export interface FormRefusal {
  status: number;
  /** Code for the log. */
  code: string;
  retryAfterS: number | undefined;
  faults: readonly FieldError[];
}

type Caller = Pick<RequestState, 'address' | 'signal'>;

const checkLogin = compile(LoginRequest);
const checkSignup = compile(SignupRequest);

export function signIn(
  accounts: AccountService,
  form: URLSearchParams,
  { address, signal }: Caller,
): Promise<Account | FormRefusal> {
  return orRefusal(() => {
    const login = checkLogin({ email: form.get('email') ?? '', password: form.get('password') ?? '' });
    // Input that fails validation is answered like a wrong password.
    if (!login.ok) throw new AppError('invalid_credentials');
    return accounts.signIn({ ...login.value, address }, signal);
  });
}

export function signUp(
  accounts: AccountService,
  form: URLSearchParams,
  { address, signal }: Caller,
): Promise<Account | FormRefusal> {
  return orRefusal(() => {
    const code = form.get('invite_code')?.trim();
    const signup = checkSignup({
      email: form.get('email') ?? '',
      password: form.get('password') ?? '',
      ...(code && { invite_code: code }),
    });
    if (!signup.ok) throw new ValidationError(signup.faults);
    const { email, password, invite_code: inviteCode } = signup.value;
    return accounts.signUp({ email, password, name: '', inviteCode, address }, signal);
  });
}

export function setRefusal(ctx: RequestContext, { status, code, retryAfterS }: FormRefusal): void {
  ctx.status = status;
  ctx.state.errorCode = code;
  if (retryAfterS !== undefined) ctx.set('Retry-After', String(Math.ceil(retryAfterS)));
}

const UNPROCESSABLE_STATUS = 422;

/** Turns an error that the person can correct or wait out into a refusal. Rethrows others. */
export async function orRefusal<T>(work: () => Promise<T>): Promise<T | FormRefusal> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ValidationError)
      return refusalOf('validation_error', error.faults.map(fieldErrorOf));
    if (!(error instanceof AppError)) throw error;
    const { code, retryAfterS } = error;
    const fault = FORM_ERRORS[code];
    if (fault !== undefined) return refusalOf(code, [fault]);
    if (code !== 'rate_limited' && code !== 'overloaded') throw error;
    return {
      status: statusOf(code, 'connect'),
      code,
      retryAfterS,
      faults: [{ text: 'too_many_tries' }],
    };
  }
}

function refusalOf(code: string, faults: FieldError[]): FormRefusal {
  return { status: UNPROCESSABLE_STATUS, code, retryAfterS: undefined, faults };
}

const FORM_ERRORS: Partial<Record<ErrorCode, FieldError>> = {
  invalid_credentials: { text: 'invalid_credentials' },
  email_taken: { field: 'email', text: 'email_taken' },
  invite_required: { field: 'invite_code', text: 'invite_required' },
};

const FIELD_TEXTS: Record<Field, (type: string) => FieldError['text']> = {
  email: (type) => (type === 'string_too_long' ? 'email_too_long' : 'email'),
  password: (type) => {
    if (type === 'string_too_short') return 'password_too_short';
    return type === 'string_too_long' ? 'password_too_long' : 'password';
  },
  invite_code: () => 'invite_required',
};

function fieldErrorOf({ loc, type }: Fault): FieldError {
  const field = loc.at(-1) as Field;
  return { field, text: FIELD_TEXTS[field](type) };
}

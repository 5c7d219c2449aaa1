import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { AccountClient, UserResponse } from '../../src/api.ts';

interface SignedIn {
  client: AccountClient;
  user: UserResponse;
  setUser(user: UserResponse): void;
}

export const SignedInContext = createContext<SignedIn | undefined>(undefined);

export function useSignedIn(): SignedIn {
  const signedIn = useContext(SignedInContext);
  if (signedIn === undefined) throw new Error('nobody is signed in');
  return signedIn;
}

/** Reports how many predictions wait for the person, for the navigation. */
export const WaitingContext = createContext<(waiting: number) => void>(() => {});

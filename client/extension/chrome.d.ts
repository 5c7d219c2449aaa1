/** Types of the browser's own interface, as far as the extension uses it. */
declare namespace chrome {
  interface Event<Listener> {
    addListener(listener: Listener): void;
  }

  interface MessageSender {
    /** Origin of the page or of the frame that sends. */
    origin?: string;
  }

  namespace runtime {
    interface Port {
      name: string;
      sender?: MessageSender;
      onMessage: Event<(message: never) => void>;
      onDisconnect: Event<() => void>;
      postMessage(message: unknown): void;
      disconnect(): void;
    }
    const onConnect: Event<(port: Port) => void>;
    /** A listener that returns true answers later. */
    const onMessage: Event<
      (message: unknown, sender: MessageSender, answer: (answer: unknown) => void) => true | undefined
    >;
    /** Throws once the extension has been reloaded or removed. */
    function connect(options: { name: string }): Port;
    function sendMessage(message: unknown): Promise<unknown>;
    function openOptionsPage(): Promise<void>;
    function getURL(path: string): string;
  }

  namespace storage {
    interface Area {
      get(defaults: Record<string, unknown>): Promise<Record<string, unknown>>;
      set(items: Record<string, unknown>): Promise<void>;
      remove(key: string): Promise<void>;
      setAccessLevel(level: { accessLevel: 'TRUSTED_CONTEXTS' }): Promise<void>;
    }
    const local: Area;
    const onChanged: Event<(changes: Record<string, { newValue?: unknown }>) => void>;
  }

  namespace identity {
    function getRedirectURL(path: string): string;
    function launchWebAuthFlow(details: { url: string; interactive: true }): Promise<string | undefined>;
  }

  namespace permissions {
    function request(permissions: { origins: string[] }): Promise<boolean>;
  }

  namespace tabs {
    function query(filter: { active: true; currentWindow: true }): Promise<{ url?: string }[]>;
  }

  namespace action {
    function setBadgeText(details: { text: string }): Promise<void>;
  }

  namespace i18n {
    function getMessage(name: string, values?: string[]): string;
    function getUILanguage(): string;
  }

  namespace dom {
    function openOrClosedShadowRoot(element: HTMLElement): ShadowRoot | null;
  }
}

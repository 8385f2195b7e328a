import eye from "virtual:tabler/eye";
import { type FormEvent, type InputHTMLAttributes, type ReactNode, useId, useState } from "react";
import { urlOf } from "../api/request.ts";
import type { Credential, SignInOptions } from "../api/sign-in.ts";
import { icon } from "../components/icon.tsx";
import { t } from "../i18n/translate.ts";

type Method = "key" | "password";

interface SignInFormsProps {
  options: SignInOptions;
  returnTo: string;
  isPending: boolean;
  error: Error | undefined;
  onSubmit: (credential: Credential) => void;
  onReset: () => void;
}

const IconEye = icon(eye);

/** Buttons of the providers, and the form of one other way to sign in. */
export function SignInForms({ options, returnTo, isPending, error, onSubmit, onReset }: SignInFormsProps) {
  const { providers, has_passwords: hasPasswords, key } = options;
  // People sign in by their name; the keys of the first start are for the time before there are any.
  const methods: Method[] = [...(hasPasswords ? (["password"] as const) : []), ...(key ? (["key"] as const) : [])];
  const [chosen, setChosen] = useState<Method>();
  const shown = chosen ?? (providers.length === 0 ? methods[0] : undefined);
  return (
    <>
      {error && (
        <p role="alert" className="sign-in-error">
          {error.message}
        </p>
      )}
      {providers.map(({ id, name }) => (
        <a
          key={id}
          href={urlOf(`sign-on/${id}/start`, { return_to: returnTo === "/sign-in" ? "/" : returnTo })}
          className="sign-in-button"
          data-variant={shown === undefined ? "filled" : "default"}
        >
          {t("Continue with {{name}}", { name })}
        </a>
      ))}
      {providers.length > 0 && methods.length > 0 && <p className="sign-in-divider">{t("or")}</p>}
      {shown === "key" && <KeyForm isPending={isPending} onSubmit={onSubmit} />}
      {shown === "password" && <PasswordForm isPending={isPending} onSubmit={onSubmit} />}
      {methods
        .filter((method) => method !== shown)
        .map((method) => (
          <button
            key={method}
            type="button"
            className="sign-in-link"
            onClick={() => {
              onReset();
              setChosen(method);
            }}
          >
            {method === "key" ? t("Sign in with a key") : t("Sign in with a password")}
          </button>
        ))}
    </>
  );
}

type FormProps = Pick<SignInFormsProps, "isPending" | "onSubmit">;

function KeyForm({ isPending, onSubmit }: FormProps) {
  return (
    <Form isPending={isPending} onSubmit={(field) => onSubmit({ key: field("key").trim() })}>
      <SecretField
        name="key"
        label={t("API key or admin key")}
        description={t("The key is exchanged for a session and never stored in this browser.")}
        // untranslated: the beginning of a key
        placeholder="sk-…"
        autoComplete="off"
        spellCheck={false}
        autoFocus
      />
    </Form>
  );
}

function PasswordForm({ isPending, onSubmit }: FormProps) {
  return (
    <Form isPending={isPending} onSubmit={(field) => onSubmit({ email: field("email"), password: field("password") })}>
      <Field name="email" label={t("E-mail address")} type="email" autoComplete="username" autoFocus />
      <SecretField name="password" label={t("Password")} autoComplete="current-password" />
    </Form>
  );
}

interface SubmitFormProps {
  isPending: boolean;
  onSubmit: (field: (name: string) => string) => void;
  children: ReactNode;
}

function Form({ isPending, onSubmit, children }: SubmitFormProps) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const values = new FormData(event.currentTarget);
    if (!isPending) onSubmit((name) => String(values.get(name) ?? ""));
  };
  return (
    <form onSubmit={submit}>
      {children}
      <button type="submit" className="sign-in-button" data-variant="filled" aria-busy={isPending}>
        {t("Sign in")}
      </button>
    </form>
  );
}

interface FieldProps extends InputHTMLAttributes<HTMLInputElement> {
  label: string;
  description?: string;
  /** What stands at the end of the field. */
  action?: ReactNode;
}

function Field({ label, description, action, ...input }: FieldProps) {
  const id = useId();
  const described = description === undefined ? {} : { "aria-describedby": `${id}-description` };
  return (
    <div>
      <label htmlFor={id}>{label}</label>
      {description !== undefined && (
        <p id={`${id}-description`} className="sign-in-description">
          {description}
        </p>
      )}
      <div className="sign-in-field">
        <input id={id} required {...described} {...input} />
        {action}
      </div>
    </div>
  );
}

function SecretField(field: Omit<FieldProps, "type" | "action">) {
  const [isShown, setShown] = useState(false);
  return (
    <Field
      {...field}
      type={isShown ? "text" : "password"}
      action={
        <button
          type="button"
          aria-label={t("Toggle password visibility")}
          aria-pressed={isShown}
          onClick={() => setShown(!isShown)}
        >
          <IconEye size={18} stroke={1.7} />
        </button>
      }
    />
  );
}

import type { Person, PersonalContext, PersonalData } from "../../storage/personal-data.ts";
import { deleteChats, findChat, listChatsOfPerson } from "./saved-chat-queries.ts";

/** Rows of a person; with their content if the person asks, whose chats nobody else reads. */
const chatsOfPerson = {
  columns: ["userId"],
  async *read({ database, chats }: PersonalContext, { identifiers, isAuthor }: Person) {
    for (const userId of identifiers.user) {
      for (const { title, ...head } of await database.run((executor) => listChatsOfPerson(executor, userId))) {
        if (isAuthor !== true || chats === undefined) {
          yield head;
          continue;
        }
        const row = await database.run((executor) => findChat(executor, head));
        if (row === undefined) continue;
        const content = await chats.openContent(head, row.content).catch(() => null);
        yield { ...head, title: chats.openTitle(head, title), content };
      }
    }
  },
  async erase({ database }: PersonalContext, { identifiers }: Person) {
    let erased = 0;
    for (const userId of identifiers.user)
      erased += await database.run((executor) => deleteChats(executor, { userId }));
    return erased;
  },
} as const;

export const savedChatData = { savedChats: { rows: [chatsOfPerson] } } as const satisfies PersonalData;

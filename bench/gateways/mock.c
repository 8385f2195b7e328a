/*
 * Upstream of the gateway benchmark: answers each POST with one fixed completion, or with a paced stream of events when
 * the body asks for one. It reads the request, but does not parse it.
 *
 *   mock PORT [--delay-ms N] [--frames N] [--frame-ms N]
 *
 * --delay-ms: before an answer begins; --frames: content events of a stream (64); --frame-ms: between them (0: at once).
 * One thread with epoll; it prints its port. Port 0 lets the system choose one.
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { MAX_EVENTS = 256, HEAD_BYTES = 64 * 1024, MARK = 13 };

static const char ANSWER[] =
    "{\"id\":\"chatcmpl-mock\",\"object\":\"chat.completion\",\"created\":1700000000,\"model\":\"mock\",\"choices\":"
    "[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"The quick brown fox jumps over the lazy dog.\"},"
    "\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":16,\"completion_tokens\":10,\"total_tokens\":26}}";
static const char EVENT[] =
    "data: {\"id\":\"chatcmpl-mock\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"mock\","
    "\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]%s}\n\n";

struct connection {
  int fd;
  char head[HEAD_BYTES];
  size_t head_bytes;
  /* Bytes of the body that are still to come; -1 while the head is read. */
  long body_left;
  /* Last bytes of the body so far, in which "stream":true may be split. */
  char tail[MARK];
  size_t tail_bytes;
  int wants_stream;
  /* Next content event of the stream that is sent; -1: none. */
  int next_frame;
  int has_begun;
  long long due_us;
  struct connection *next_due;
  char *output;
  size_t output_bytes, output_from, output_room;
};

static int epoll_fd, timer_fd;
static int delay_ms = 0, frames = 64, frame_ms = 0;
static struct connection *due_list;

static long long now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000LL + time.tv_nsec / 1000;
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void append(struct connection *c, const char *bytes, size_t count) {
  if (c->output_bytes + count > c->output_room) {
    c->output_room = (c->output_bytes + count) * 2;
    c->output = realloc(c->output, c->output_room);
    if (c->output == NULL) fail("realloc");
  }
  memcpy(c->output + c->output_bytes, bytes, count);
  c->output_bytes += count;
}

static void append_chunk(struct connection *c, const char *bytes, size_t count) {
  char size[24];
  append(c, size, (size_t)snprintf(size, sizeof size, "%zx\r\n", count));
  append(c, bytes, count);
  append(c, "\r\n", 2);
}

static void append_event(struct connection *c, const char *delta, const char *reason, const char *usage) {
  char event[512];
  append_chunk(c, event, (size_t)snprintf(event, sizeof event, EVENT, delta, reason, usage));
}

/* Removes the connection from the list of those that wait for a time. */
static void forget(struct connection *c) {
  for (struct connection **each = &due_list; *each != NULL; each = &(*each)->next_due) {
    if (*each != c) continue;
    *each = c->next_due;
    return;
  }
}

static void discard(struct connection *c) {
  forget(c);
  close(c->fd);
  free(c->output);
  free(c);
}

static void arm_timer(void) {
  long long wait = due_list == NULL ? 0 : due_list->due_us - now_us();
  if (due_list != NULL && wait < 1) wait = 1;
  struct itimerspec spec = {.it_value = {wait / 1000000, wait % 1000000 * 1000}};
  timerfd_settime(timer_fd, 0, &spec, NULL);
}

/* The list is in the order of times: most waits are equally long, so the place is near its end. */
static void wait_until(struct connection *c, long long due_us) {
  struct connection **each = &due_list;
  while (*each != NULL && (*each)->due_us <= due_us) each = &(*each)->next_due;
  c->due_us = due_us;
  c->next_due = *each;
  *each = c;
  if (due_list == c) arm_timer();
}

/* Sends what is in the buffer. Returns 0 when the connection was discarded. */
static int flush_output(struct connection *c) {
  while (c->output_from < c->output_bytes) {
    ssize_t sent = send(c->fd, c->output + c->output_from, c->output_bytes - c->output_from, MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN) {
      struct epoll_event event = {.events = EPOLLIN | EPOLLOUT, .data.ptr = c};
      epoll_ctl(epoll_fd, EPOLL_CTL_MOD, c->fd, &event);
      return 1;
    }
    if (sent < 0) {
      discard(c);
      return 0;
    }
    c->output_from += (size_t)sent;
  }
  c->output_bytes = c->output_from = 0;
  return 1;
}

/* Begins or continues the answer. Returns 0 when the connection was discarded. */
static int answer(struct connection *c) {
  if (!c->wants_stream) {
    char head[160];
    const char format[] = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %zu\r\n\r\n";
    append(c, head, (size_t)snprintf(head, sizeof head, format, sizeof ANSWER - 1));
    append(c, ANSWER, sizeof ANSWER - 1);
    return flush_output(c);
  }
  if (!c->has_begun) {
    const char head[] = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    append(c, head, sizeof head - 1);
    append_event(c, "{\"role\":\"assistant\",\"content\":\"\"}", "null", "");
    c->has_begun = 1;
    c->next_frame = 0;
  }
  do {
    append_event(c, "{\"content\":\" word\"}", "null", "");
    c->next_frame += 1;
  } while (frame_ms == 0 && c->next_frame < frames);
  if (c->next_frame < frames) {
    wait_until(c, c->due_us + frame_ms * 1000LL);
    return flush_output(c);
  }
  append_event(c, "{}", "\"stop\"",
               ",\"usage\":{\"prompt_tokens\":16,\"completion_tokens\":64,\"total_tokens\":80}");
  append_chunk(c, "data: [DONE]\n\n", 14);
  append(c, "0\r\n\r\n", 5);
  c->next_frame = -1;
  return flush_output(c);
}

static void scan_body(struct connection *c, const char *bytes, size_t count) {
  char seam[MARK * 2];
  size_t before = c->tail_bytes, from_new = count < MARK ? count : MARK;
  memcpy(seam, c->tail, before);
  memcpy(seam + before, bytes, from_new);
  if (memmem(seam, before + from_new, "\"stream\":true", MARK) != NULL) c->wants_stream = 1;
  if (memmem(seam, before + from_new, "\"stream\": true", MARK + 1) != NULL) c->wants_stream = 1;
  if (memmem(bytes, count, "\"stream\":true", MARK) != NULL) c->wants_stream = 1;
  if (memmem(bytes, count, "\"stream\": true", MARK + 1) != NULL) c->wants_stream = 1;
  size_t keep = count < MARK ? count : MARK;
  memcpy(c->tail, bytes + count - keep, keep);
  c->tail_bytes = keep;
  c->body_left -= (long)count;
}

/* Reads the length of the body from the head. Clients that send chunks get a 411. */
static long content_length(char *head) {
  char *line = strcasestr(head, "\ncontent-length:");
  if (line != NULL) return atol(line + 16);
  return strcasestr(head, "\ntransfer-encoding:") == NULL ? 0 : -1;
}

/* Returns 0 when the connection was discarded. */
static int take(struct connection *c, const char *bytes, size_t count) {
  while (count > 0) {
    if (c->body_left < 0) {
      size_t room = HEAD_BYTES - 1 - c->head_bytes;
      size_t part = count < room ? count : room;
      memcpy(c->head + c->head_bytes, bytes, part);
      size_t before = c->head_bytes;
      c->head_bytes += part;
      c->head[c->head_bytes] = 0;
      char *end = strstr(c->head, "\r\n\r\n");
      if (end == NULL) {
        if (part == room) return discard(c), 0;
        return 1;
      }
      size_t head_bytes = (size_t)(end + 4 - c->head);
      bytes += head_bytes - before;
      count -= head_bytes - before;
      end[2] = 0;
      c->body_left = content_length(c->head);
      if (c->body_left < 0) {
        const char refusal[] = "HTTP/1.1 411 Length Required\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        append(c, refusal, sizeof refusal - 1);
        if (flush_output(c)) discard(c);
        return 0;
      }
      c->wants_stream = 0;
      c->has_begun = 0;
      c->tail_bytes = 0;
    }
    size_t part = count < (size_t)c->body_left ? count : (size_t)c->body_left;
    if (part > 0) scan_body(c, bytes, part);
    bytes += part;
    count -= part;
    if (c->body_left == 0) {
      c->body_left = -1;
      c->head_bytes = 0;
      c->due_us = now_us();
      if (delay_ms > 0) wait_until(c, c->due_us + delay_ms * 1000LL);
      else if (!answer(c)) return 0;
    }
  }
  return 1;
}

static void read_from(struct connection *c) {
  static char bytes[256 * 1024];
  for (;;) {
    ssize_t count = recv(c->fd, bytes, sizeof bytes, 0);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      discard(c);
      return;
    }
    if (!take(c, bytes, (size_t)count)) return;
    if ((size_t)count < sizeof bytes) return;
  }
}

static void answer_due(void) {
  char expirations[8];
  if (read(timer_fd, expirations, sizeof expirations) < 0 && errno != EAGAIN) fail("read");
  long long now = now_us();
  while (due_list != NULL && due_list->due_us <= now) {
    struct connection *c = due_list;
    due_list = c->next_due;
    answer(c);
  }
  arm_timer();
}

int main(int count, char **arguments) {
  if (count < 2) {
    fprintf(stderr, "usage: mock PORT [--delay-ms N] [--frames N] [--frame-ms N]\n");
    return 2;
  }
  for (int at = 2; at + 1 < count; at += 2) {
    int value = atoi(arguments[at + 1]);
    if (strcmp(arguments[at], "--delay-ms") == 0) delay_ms = value;
    else if (strcmp(arguments[at], "--frames") == 0) frames = value;
    else if (strcmp(arguments[at], "--frame-ms") == 0) frame_ms = value;
    else return fprintf(stderr, "unknown option %s\n", arguments[at]), 2;
  }
  signal(SIGPIPE, SIG_IGN);
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(arguments[1]))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, size) < 0 || listen(listener, 4096) < 0) fail("listen");
  getsockname(listener, (struct sockaddr *)&address, &size);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  epoll_fd = epoll_create1(0);
  timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  struct epoll_event accepting = {.events = EPOLLIN, .data.ptr = NULL}, timing = {.events = EPOLLIN, .data.ptr = &timer_fd};
  epoll_ctl(epoll_fd, EPOLL_CTL_ADD, listener, &accepting);
  epoll_ctl(epoll_fd, EPOLL_CTL_ADD, timer_fd, &timing);
  struct epoll_event events[MAX_EVENTS];
  for (;;) {
    int ready = epoll_wait(epoll_fd, events, MAX_EVENTS, -1), is_due = 0;
    for (int at = 0; at < ready; at += 1) {
      struct connection *c = events[at].data.ptr;
      if (c == NULL) {
        for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0;) {
          setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
          struct connection *made = calloc(1, sizeof *made);
          if (made == NULL) fail("calloc");
          made->fd = fd;
          made->body_left = made->next_frame = -1;
          struct epoll_event reading = {.events = EPOLLIN, .data.ptr = made};
          epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &reading);
        }
      } else if ((void *)c == (void *)&timer_fd) {
        is_due = 1;
      } else if (events[at].events & EPOLLOUT) {
        if (!flush_output(c)) continue;
        struct epoll_event reading = {.events = EPOLLIN, .data.ptr = c};
        if (c->output_bytes == 0) epoll_ctl(epoll_fd, EPOLL_CTL_MOD, c->fd, &reading);
      } else {
        read_from(c);
      }
    }
    // Last, because it can discard connections that have an event in the list.
    if (is_due) answer_due();
  }
}

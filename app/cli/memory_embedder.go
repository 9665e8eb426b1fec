package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) memoryEmbedder() *cobra.Command {
	cmd := c.withJSON(&cobra.Command{
		Use: "embedder", Short: c.t("Show who makes the vectors by which memories are found", "기억을 찾는 벡터를 누가 만드는지 봅니다"), Args: c.args(0, 0),
		RunE: c.linked(func(ctx context.Context, l *link, _ []string) error {
			v, err := l.Memory.Embedding(ctx)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(v)
			}
			c.embedding(v)
			return nil
		}),
	})
	cmd.AddCommand(c.embedderSet(), c.embedderTest(), c.embedderRebuild())
	return cmd
}

// embedding says how the vectors stand.
func (c *console) embedding(v kernel.MemoryEmbedding) {
	if v.Embedder == "" {
		c.printf(c.t("Embedder: built in, %d numbers a vector", "임베더: 내장, 벡터당 %d차원"), v.Dim)
		return
	}
	c.printf(c.t("Embedder: %s, %d of %d memories have its vectors", "임베더: %s, 기억 %[3]d개 중 %[2]d개에 벡터가 있습니다"), v.Embedder, v.Done, v.Total)
	if !v.Local {
		c.printf(c.t("  The texts of memories, and what is looked for, go to %s.", "  기억의 내용과 찾는 말이 %s(으)로 갑니다."), oneLine(v.ProviderName))
	}
	if v.Cut > 0 {
		c.printf(c.t("  Of %d not all was embedded: passages are too long for the model.", "  %d개는 모델에 너무 긴 단락이 있어 일부만 임베딩했습니다."), v.Cut)
	}
	if v.Damaged > 0 {
		c.printf(c.t("  %d vectors could not be read and are made anew.", "  벡터 %d개를 읽을 수 없어 다시 만듭니다."), v.Damaged)
	}
	switch {
	case v.Error != nil:
		c.explain(v.Error)
	case v.QueryError != nil:
		c.explain(v.QueryError)
	case v.Done < v.Total:
		c.note("%s", c.t("The rest is made while the window or `oxios serve` is open.", "나머지는 창이나 `oxios serve`가 열려 있는 동안 만듭니다."))
	}
}

// builtIn is how the built-in embedder is named on the command line.
const builtIn = "built-in"

func (c *console) embedderSet() *cobra.Command {
	var wait bool
	cmd := &cobra.Command{
		Use: "set MODEL", Short: c.t("Choose who makes the vectors", "벡터를 만들 모델을 고릅니다"), Args: c.args(1, 1),
		Long: c.t("Chooses the model that makes the vectors by which memories are found, as provider/model, like ollama/nomic-embed-text; or\nbuilt-in. The texts of memories, and what is looked for, go to that provider from then on. The vectors of the embedder before\nstay until those of the new one are complete.",
			"기억을 찾는 벡터를 만들 모델을 ollama/nomic-embed-text처럼 제공자/모델로 고르거나, built-in으로 내장 임베더를 씁니다.\n그때부터 기억의 내용과 찾는 말이 그 제공자로 갑니다. 이전 벡터는 새 벡터가 다 만들어질 때까지 남습니다."),
		RunE: c.embedderChange(&wait, func(ctx context.Context, l *link, args []string) error {
			ref := args[0]
			if ref == builtIn {
				ref = ""
			}
			_, err := l.Infra.SetConfig(ctx, "embedder", ref)
			return err
		}),
	}
	return c.waitFlag(cmd, &wait)
}

func (c *console) embedderRebuild() *cobra.Command {
	var wait bool
	cmd := &cobra.Command{
		Use: "rebuild", Short: c.t("Make all vectors of the configured embedder anew", "설정된 임베더의 벡터를 모두 다시 만듭니다"), Args: c.args(0, 0),
		RunE: c.embedderChange(&wait, func(ctx context.Context, l *link, _ []string) error {
			_, err := l.Memory.Reembed(ctx)
			return err
		}),
	}
	return c.waitFlag(cmd, &wait)
}

func (c *console) waitFlag(cmd *cobra.Command, wait *bool) *cobra.Command {
	cmd.Flags().BoolVar(wait, "wait", false, c.t("wait until all vectors are made", "벡터가 모두 만들어질 때까지 기다립니다"))
	return c.withJSON(cmd)
}

// embedderChange makes a change, and shows how the vectors stand then, or when all
// are made.
func (c *console) embedderChange(wait *bool, change func(ctx context.Context, l *link, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		connect := c.connect
		if *wait {
			connect = c.connectToWork // nobody else may be there to make them
		}
		l, err := connect(ctx)
		if err != nil {
			return err
		}
		defer l.close()
		if err := change(ctx, l, args); err != nil {
			return err
		}
		v, err := l.Memory.Embedding(ctx)
		if *wait && err == nil {
			v, err = c.awaitVectors(ctx, l)
		}
		if err != nil {
			return err
		}
		if c.json {
			return c.writeJSON(v)
		}
		c.embedding(v)
		return nil
	}
}

// awaitVectors waits until all vectors are made, and tells how far they came. An
// error of the embedder ends it.
func (c *console) awaitVectors(ctx context.Context, l *link) (kernel.MemoryEmbedding, error) {
	told := -1
	for {
		v, err := l.Memory.Embedding(ctx)
		switch {
		case err != nil:
			return v, err
		case v.Error != nil:
			return v, v.Error
		case v.Embedder == "", v.Dim > 0 && !v.Running && v.Done >= v.Total:
			return v, nil
		}
		if v.Done != told && !c.json {
			told = v.Done
			c.note("· %d/%d", v.Done, v.Total)
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return v, sys.AsError(ctx.Err())
		}
	}
}

func (c *console) embedderTest() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "test MODEL", Short: c.t("Embed a sentence with a model", "모델로 문장 하나를 임베딩해 봅니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			r, err := l.Memory.TryEmbedder(ctx, args[0])
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(r)
			}
			if r.Error != nil {
				return r.Error
			}
			c.printf("%s", fmt.Sprintf(c.t("%s gave a vector of %d numbers in %d ms.", "%s이(가) %d차원 벡터를 %dms에 주었습니다."), oneLine(r.Embedder), r.Dim, r.Millis))
			return nil
		}),
	})
}
